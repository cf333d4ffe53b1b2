package mining

import (
	"slices"
	"testing"

	"github.com/petrigate/petrigate/internal/list"
)

// TestJointCandidates checks that every two fields are combined, whatever the order of the fields.
func TestJointCandidates(t *testing.T) {
	field := func(name string) *candidate {
		return &candidate{pair: pair{1, 2}, alt: -1, first: name, then: name, sessions: 100, tries: 100}
	}
	for _, fields := range [][]string{{"z", "a", "b"}, {"a", "b", "z"}, {"b", "z", "a"}} {
		m := &Miner{least: 20}
		got := list.Map(m.jointCandidates(list.Map(fields, field), 1), func(c *candidate) string { return c.first })
		slices.Sort(got)
		if want := []string{"a" + joined + "b", "a" + joined + "z", "b" + joined + "z"}; !slices.Equal(got, want) {
			t.Errorf("%q: %q", fields, got)
		}
	}
}
