package petri_test

import (
	"testing"

	"github.com/petrigate/petrigate/internal/petri"
)

// TestNoPlaces checks that a net without places has a single state, which enables all transitions.
func TestNoPlaces(t *testing.T) {
	for _, transitions := range [][]petri.Transition{nil, {{}}} {
		a := petri.Analyze(&petri.Net{Transitions: transitions}, petri.Marking{}, petri.Options{})
		if a.States != 1 || a.Edges != len(transitions) {
			t.Errorf("%d transitions: %d states, %d edges", len(transitions), a.States, a.Edges)
		}
	}
}
