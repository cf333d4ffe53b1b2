package shell

// scriptAliases are the words of each alias that the script defines and that are followed.
type scriptAliases map[string][]string

// use reports whether a name is that of an alias, or of a program that an alias runs.
func (a scriptAliases) use(name string) bool {
	for alias, words := range a {
		if alias == name || words[0] == name {
			return true
		}
	}
	return false
}
