package upstream

import (
	"github.com/petrigate/petrigate/internal/rawjson"
)

// An ability is a client capability that the proxy can forward. Some abilities have parts, such as
// modes, that a client can support or not.
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

// has reports whether the declared capability includes the given part.
func (a ability) has(declared []byte, part string) bool {
	_, ok := rawjson.Member(declared, part)
	if a.name == "elicitation" && part == "form" { // before modes could be declared, forms were the only mode
		_, url := rawjson.Member(declared, "url")
		return ok || !url
	}
	return ok
}

// within reports whether wider includes every part that b includes.
func (a ability) within(b, wider []byte) bool {
	for _, part := range a.parts {
		if a.has(b, part) && !a.has(wider, part) {
			return false
		}
	}
	return true
}

// union returns the union of x and y. If one of them includes the other, it returns the larger one
// unchanged.
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

// covers reports whether the capabilities in a include all those in b.
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

// union returns the union of the capabilities a and b. If both contain a capability, it prefers the
// form in a.
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
