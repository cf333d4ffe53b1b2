package callclass

import (
	"encoding/json"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// Presence describes whether a field of a call has the tracked value.
type Presence uint8

const (
	Same  Presence = iota // the field has the tracked value
	Lacks                 // the field cannot be read
	Other                 // the field has another value
)

// A Datum is a field that keys read from calls of a class, and its [Presence].
type Datum struct {
	Field gate.Field // the field, without its source text
	Has   Presence
	sort  int
}

// A Reading is a field that is read from the calls with a given name.
type Reading struct {
	Tool  gate.Tool
	Field gate.Field
}

// A sort is a set of fields that are compared with each other.
type sort struct {
	fields []gate.Field
	texts  [2]string // text of the tracked value, and text of another value; if possible, no map matches them
}

// normalize returns f without those of its members that do not affect the value read.
func normalize(f gate.Field) gate.Field {
	f.Source = ""
	if key, ok := strings.CutPrefix(f.Path, "$."); ok && !strings.ContainsAny(key, `.["`) {
		f.Path = key
	}
	return f
}

// Values holds the concrete values of a run, one pair per sort: the tracked value and another
// value.
type Values struct {
	same, other map[int]literal
}

// A literal is the text of a JSON value.
type literal string

// MarshalJSON returns the literal unchanged.
func (l literal) MarshalJSON() ([]byte, error) { return []byte(l), nil }

// single returns the only element of an array that has a single element. It returns any other
// literal unchanged.
func (l literal) single() literal {
	var elements []json.RawMessage
	if json.Unmarshal([]byte(l), &elements) == nil && len(elements) == 1 {
		return literal(elements[0])
	}
	return l
}

// quoted returns the given string as a literal.
func quoted(text string) literal {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // cannot happen for a string
	}
	return literal(b)
}
