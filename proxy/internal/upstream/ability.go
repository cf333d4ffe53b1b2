package upstream

import (
	"github.com/petrigate/petrigate/internal/rawjson"
)

// An ability is a capability of clients that can be had through us, with what a
// client can or cannot do of it.
type ability struct {
	name   string
	leaves [][]string // by the keys that lead there
}

func abilities() [4]ability {
	return [...]ability{
		{name: "roots"},
		{name: "sampling", leaves: [][]string{{"context"}, {"tools"}}},
		{name: "elicitation", leaves: [][]string{{"form"}, {"url"}}},
		{name: "tasks", leaves: [][]string{
			{"list"}, {"cancel"}, {"requests", "sampling", "createMessage"}, {"requests", "elicitation", "create"},
		}},
	}
}

// has reports whether the capability as it is declared has a leaf.
func (a ability) has(declared []byte, leaf []string) bool {
	if a.name == "elicitation" && leaf[0] == "form" { // which it was before there was a choice
		_, form := rawjson.Member(declared, "form")
		_, url := rawjson.Member(declared, "url")
		return form || !url
	}
	for _, key := range leaf {
		var ok bool
		if declared, ok = rawjson.Member(declared, key); !ok {
			return false
		}
	}
	return true
}

// within reports whether b can do no more than a.
func (a ability) within(b, wider []byte) bool {
	for _, leaf := range a.leaves {
		if a.has(b, leaf) && !a.has(wider, leaf) {
			return false
		}
	}
	return true
}

// union is what x and y can do together: in the words of the one that can do it
// all, if there is one.
func (a ability) union(x, y []byte) []byte {
	switch {
	case a.within(y, x):
		return x
	case a.within(x, y):
		return y
	}
	var root shape
	for _, leaf := range a.leaves {
		if a.has(x, leaf) || a.has(y, leaf) {
			root.grow(leaf)
		}
	}
	return root.append(nil)
}

// A shape is an object of objects.
type shape struct {
	keys     []string
	branches []*shape
}

func (t *shape) grow(path []string) {
	if len(path) == 0 {
		return
	}
	for i, key := range t.keys {
		if key == path[0] {
			t.branches[i].grow(path[1:])
			return
		}
	}
	branch := new(shape)
	t.keys, t.branches = append(t.keys, path[0]), append(t.branches, branch)
	branch.grow(path[1:])
}

func (t *shape) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, key := range t.keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, key), ':')
		dst = t.branches[i].append(dst)
	}
	return append(dst, '}')
}

// covers reports whether all that b can do is in a.
func covers(a, b []byte) bool {
	for _, x := range abilities() {
		want, ok := rawjson.Member(b, x.name)
		if !ok {
			continue
		}
		have, ok := rawjson.Member(a, x.name)
		if !ok || !x.within(want, have) {
			return false
		}
	}
	return true
}

// union is what a and b can do together, in the words of whoever said it first.
func union(a, b []byte) []byte {
	all := []byte{'{'}
	for _, x := range abilities() {
		value, ok := rawjson.Member(a, x.name)
		other, too := rawjson.Member(b, x.name)
		switch {
		case !ok && !too:
			continue
		case !ok:
			value = other
		case too:
			value = x.union(value, other)
		}
		if len(all) > 1 {
			all = append(all, ',')
		}
		all = append(append(rawjson.AppendString(all, x.name), ':'), value...)
	}
	return append(all, '}')
}
