package shell

import (
	"slices"
	"strings"
)

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

// define reads alias definitions. zsh and others expand an alias in the script that defines it.
// An alias for a program with plain words is followed; any other alias makes all later commands
// uncertain.
func (a *scriptAliases) define(r *findings, builtin string, args []arg) {
	for _, def := range args {
		name, text, defines := strings.Cut(def.text, "=")
		words := strings.Fields(text)
		switch {
		case def.kind == literal && !defines && (builtin != "hash" && !strings.HasPrefix(name, "-") || name == "-r" || name == "-p" || name == "-a"):
		case builtin != "alias" || def.kind != literal || r.strict || len(words) == 0 || strings.TrimSpace(text) != text ||
			strings.Trim(text, plainLetters+" ") != "" || strings.Contains(words[0], "=") || strings.Trim(name, plainLetters) != "" || strings.HasPrefix(name, "-") ||
			shellWords[name] || shellWords[words[0]] || r.defined[name] || r.defined[words[0]] || len(*a) >= maxElements ||
			slices.ContainsFunc(r.commands, func(c command) bool { return c.name == name }):
			r.doubtAll("an alias")
		default:
			if *a == nil {
				*a = make(scriptAliases)
			}
			r.defined.add(name)
			(*a)[name] = words
		}
	}
}
