package callclass

import (
	"encoding/json"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// Presence says whether a field of a call has the tracked value.
type Presence uint8

const (
	Same  Presence = iota // the field has the tracked value
	Lacks                 // the field cannot be read
	Other                 // the field has another value
)

// A Datum is a field of a class that keys read, and its presence.
type Datum struct {
	Field gate.Field // without its source
	Has   Presence
	sort  int
}

// A Reading is a field of the calls that have a given name.
type Reading struct {
	Tool  gate.Tool
	Field gate.Field
}

// A sort is a set of fields that are compared with each other.
type sort struct {
	fields []gate.Field
	texts  [2]string // the tracked value and another value; no map matches them if possible
}

// normalize returns the field without the parts that do not affect its value.
func normalize(f gate.Field) gate.Field {
	f.Source = ""
	if key, ok := strings.CutPrefix(f.Path, "$."); ok && !strings.ContainsAny(key, `.["`) {
		f.Path = key
	}
	return f
}

// Values are the concrete values of a run for the tracked value and the other value, by sort.
type Values struct {
	same, other map[int]literal
}

// A literal is a JSON value in its textual form.
type literal string

// MarshalJSON returns the literal.
func (l literal) MarshalJSON() ([]byte, error) { return []byte(l), nil }

// single returns the element of an array with one element, and any other literal unchanged.
func (l literal) single() literal {
	var elements []json.RawMessage
	if json.Unmarshal([]byte(l), &elements) == nil && len(elements) == 1 {
		return literal(elements[0])
	}
	return l
}

// quoted returns the literal of a string.
func quoted(text string) literal {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // cannot happen for a string
	}
	return literal(b)
}
