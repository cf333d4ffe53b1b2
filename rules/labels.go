package rules

import (
	"maps"
	"slices"
	"strings"
)

// labels is an index of the map statements by label. A label is a name that map statements give to
// calls.
type labels struct {
	maps  map[string][]*Map // map statements, keyed by label
	weak  map[string]*Map   // maps a name to the first map statement, in file order, that gives the name to calls without proof that they perform the named action
	order map[*Map]int
	words vocabulary
}

func newLabels(all []*Map) *labels {
	l := &labels{maps: make(map[string][]*Map), weak: make(map[string]*Map), order: make(map[*Map]int)}
	for i, m := range all {
		label := m.As.Text
		l.order[m] = i
		if l.weak[label] == nil && !m.provesEffect() {
			l.weak[label] = m
		}
		l.maps[label] = append(l.maps[label], m)
	}
	l.words = slices.Sorted(maps.Keys(l.maps))
	return l
}

// firstWeak returns the first map statement, in file order, that gives a name matching n without
// proof that the call performs the named action. If it finds no such statement, it returns nil.
func (l *labels) firstWeak(n Name) *Map {
	var first *Map
	l.words.forEachMatch(n, func(label string) {
		if m := l.weak[label]; m != nil && (first == nil || l.order[m] < l.order[first]) {
			first = m
		}
	})
	return first
}

// A vocabulary is a sorted set of names. To find the names that match a pattern, it searches only
// the names with the pattern's literal prefix.
type vocabulary []string

// forEachMatch calls f for each name in v that n matches.
func (v vocabulary) forEachMatch(n Name, f func(text string)) {
	prefix := n.Text
	if n.Glob() {
		prefix = prefix[:strings.IndexAny(prefix, "*?")]
	}
	from, _ := slices.BinarySearch(v, prefix)
	for _, text := range v[from:] {
		if !strings.HasPrefix(text, prefix) || !n.Glob() && text != prefix {
			return
		}
		if n.Matches(text) {
			f(text)
		}
	}
}
