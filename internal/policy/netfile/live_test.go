package netfile

import (
	"bytes"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/petri"
)

// TestLiveRunsOut checks that all other results are complete if only the search for liveness runs
// out of time.
func TestLiveRunsOut(t *testing.T) {
	nets, err := Read("ring.json", []byte(`{"name": "ring", "places": ["a", "b"], "initial": {"a": 5},
		"transitions": [{"name": "to", "in": [["a", 1]], "out": [["b", 1]]}, {"name": "back", "in": [["b", 1]], "out": [["a", 1]]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a := petri.Analyze(&nets[0].Petri, nets[0].Initial, petri.Options{
		Liveness: true, Continue: func(states int) bool { return states == 1 }, // the search checks the context when it starts
	})
	r := NewReport(nets[0], a, true, 0)
	if r.Live != nil || r.Incomplete || r.States == nil || *r.States != 6 || r.Deadlocks == nil || *r.Deadlocks != 0 {
		t.Errorf("%+v", r)
	}
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"states            6\n", "live              ? (this took too long; the other answers are complete)\n"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no line %q in\n%s", line, &b)
		}
	}
}
