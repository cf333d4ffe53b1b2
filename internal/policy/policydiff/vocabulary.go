package policydiff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
)

// A vocabulary holds the names and patterns that the two policies mention.
type vocabulary struct {
	names    []string // sorted names that are not patterns
	patterns []string
}

// vocabularyOf returns the names and patterns that the two policies mention in their nets, and as
// tools of map statements and map entries.
func vocabularyOf(sides [2]*Side) vocabulary {
	names, patterns := make(map[string]bool), make(map[string]bool)
	add := func(name string, pattern bool) {
		if pattern {
			patterns[name] = true
		} else {
			names[name] = true
		}
	}
	for _, s := range sides {
		own := list.FlatMap(s.nets, func(n gate.NetInfo) []gate.Map { return n.Maps })
		for _, m := range slices.Concat(s.maps, own) {
			add(m.Tool, m.Glob)
		}
		for _, t := range list.FlatMap(s.nets, mentioned) {
			add(t.Name, t.Kind == gate.Glob)
			if t.Except != "" {
				add(t.Except, false)
			}
		}
	}
	return vocabulary{slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(patterns))}
}

// bases returns the names and the parts of each name that end before a dot. For example, for a.b.c,
// it returns a.b.c, a.b and a.
func (s *vocabulary) bases() []string {
	all := slices.Clone(s.names)
	for _, name := range s.names {
		for i := 1; i < len(name); i++ {
			if name[i] == '.' {
				all = append(all, name[:i])
			}
		}
	}
	return list.Sorted(all)
}

// mentions reports whether the vocabulary contains the given name, or a longer name that begins
// with the given name and a dot.
func (s *vocabulary) mentions(name string) bool {
	if _, found := slices.BinarySearch(s.names, name); found {
		return true
	}
	at, found := slices.BinarySearch(s.names, name+".")
	return found || at < len(s.names) && strings.HasPrefix(s.names[at], name+".")
}

// sees returns a key for the given names of a call. If two calls have the same key, the policies
// cannot distinguish them by their names. The key is "" if the policies mention none of the names.
func (s *vocabulary) sees(names []gate.Name) string {
	worth := make(map[string]gate.Name)
	hit := func(text string, n gate.Name) {
		if w, ok := worth[text]; ok {
			n.Certain, n.Weak = n.Certain || w.Certain, n.Weak && w.Weak
		}
		worth[text] = n
	}
	for _, n := range names {
		if s.mentions(n.Text) {
			hit(n.Text, n)
		}
		for _, p := range s.patterns {
			if toolnet.MatchGlob(p, n.Text) {
				hit(p+" ", n)
			}
		}
	}
	var b strings.Builder
	for _, text := range slices.Sorted(maps.Keys(worth)) {
		fmt.Fprintf(&b, "%q%v%v", text, worth[text].Certain, worth[text].Weak)
	}
	return b.String()
}
