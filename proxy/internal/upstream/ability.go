package upstream

import (
	"github.com/petrigate/petrigate/internal/rawjson"
)

// An ability is a capability of clients that can be had through us, with what a
// client can or cannot do of it.
type ability struct {
	name  string
	parts []string
}

func abilities() [3]ability {
	return [...]ability{
		{name: "roots"},
		{name: "sampling", parts: []string{"context", "tools"}},
		{name: "elicitation", parts: []string{"form", "url"}},
	}
}

// has reports whether the capability as it is declared has a part.
func (a ability) has(declared []byte, part string) bool {
	_, ok := rawjson.Member(declared, part)
	if a.name == "elicitation" && part == "form" { // which it was before there was a choice
		_, url := rawjson.Member(declared, "url")
		return ok || !url
	}
	return ok
}

// within reports whether b can do no more than a.
func (a ability) within(b, wider []byte) bool {
	for _, part := range a.parts {
		if a.has(b, part) && !a.has(wider, part) {
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
	var all rawjson.Object
	for _, part := range a.parts {
		if a.has(x, part) || a.has(y, part) {
			all = all.Raw(part, []byte(`{}`))
		}
	}
	return all.Bytes()
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
	var all rawjson.Object
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
		all = all.Raw(x.name, value)
	}
	return all.Bytes()
}
