package toolnet

import (
	"fmt"
	"strings"
)

// A Marking lists the number of tokens in each place.
type Marking []Tokens

// Tokens is the number of tokens in one place of a [Marking].
type Tokens struct {
	Place    string
	Count    int // total number of tokens, including those in flight
	InFlight int
}

// String returns the marked places, such as "ready:1 (1 in flight), budget:2", or "" if no place is
// marked.
func (m Marking) String() string {
	var parts []string
	for _, t := range m {
		switch {
		case t.InFlight > 0:
			parts = append(parts, fmt.Sprintf("%s:%d (%d in flight)", t.Place, t.Count, t.InFlight))
		case t.Count > 0:
			parts = append(parts, fmt.Sprintf("%s:%d", t.Place, t.Count))
		}
	}
	return strings.Join(parts, ", ")
}
