package shell

import "strings"

// A set is a set of names.
type set map[string]bool

func (s *set) add(name string) {
	put((*map[string]bool)(s), name, true)
}

// put sets an entry in a map, creating the map if it is nil.
func put[V any](m *map[string]V, name string, value V) {
	if *m == nil {
		*m = make(map[string]V)
	}
	(*m)[name] = value
}

// setOf returns the set of the space-separated words in list.
func setOf(list string) set {
	var s set
	for name := range strings.FieldsSeq(list) {
		s.add(name)
	}
	return s
}

// eachName returns a table with a separate entry for each name. A key of rows may contain several
// names, separated by commas.
func eachName[T any](rows map[string]T) map[string]T {
	table := make(map[string]T, len(rows))
	for names, row := range rows {
		for name := range strings.SplitSeq(names, ",") {
			table[name] = row
		}
	}
	return table
}

// hasWord reports whether the space-separated list contains word.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// begins reports whether text begins with any of the space-separated words.
func begins(text, words string) bool {
	for word := range strings.FieldsSeq(words) {
		if strings.HasPrefix(text, word) {
			return true
		}
	}
	return false
}
