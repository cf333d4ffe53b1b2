package petri

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// corpusNet is a net of the corpus.
type corpusNet struct {
	Places      []string
	Initial     map[string]int
	Transitions []struct {
		Name    string
		In, Out [][2]any
	}
}

// expected holds the results that independent programs agree on.
type expected struct {
	States          *int
	Edges           *int
	Deadlocks       *int
	DeadTransitions []string       `json:"dead_transitions"`
	Bounds          map[string]int `json:"bounds"`
	Unbounded       []string       `json:"unbounded_places"`
}

// The folder beside the project holds more nets than may be copied here.
const (
	ownNets    = "testdata/nets"
	sharedNets = "../../../shared/nets"
)

// TestCorpus compares the results with known properties of nets, which independent programs agree
// on. The largest nets run only if PETRIGATE_LARGE_NETS is set.
func TestCorpus(t *testing.T) {
	dir := sharedNets
	if _, err := os.Stat(dir); err != nil {
		t.Logf("no nets in %s: only those of %s are compared", sharedNets, ownNets)
		dir = ownNets
	}
	large := 100_000
	switch {
	case os.Getenv("PETRIGATE_LARGE_NETS") != "":
		large = 10_000_000
	case testing.Short():
		large = 10_000
	}
	for name, want := range readExpected(t, dir) {
		if want.States != nil && *want.States > large && name != "rule-limit-1000000" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := readNet(t, dir, name)
			n, initial := c.net()
			a := Analyze(n, initial, Options{MaxStates: large, Liveness: true})
			c.compare(t, a, &want)
			checkInvariants(t, n, initial, a)
			t.Logf("%d states, %.1f bytes each, %d invariants (all %v), live %v", a.States, a.BytesPerState, len(a.Invariants), a.AllInvariants, a.Live)
		})
	}
}

func readExpected(t testing.TB, dir string) map[string]expected {
	all := make(map[string]expected)
	readJSON(t, filepath.Join(dir, "expected.json"), &all)
	return all
}

func readNet(t testing.TB, dir, name string) *corpusNet {
	c := new(corpusNet)
	readJSON(t, filepath.Join(dir, name+".json"), c)
	return c
}

func readJSON(t testing.TB, path string, to any) {
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(doc, to); err != nil {
		t.Fatal(err)
	}
}

func (c *corpusNet) net() (*Net, Marking) {
	number := make(map[string]int)
	for i, place := range c.Places {
		number[place] = i
	}
	n := &Net{Places: len(c.Places)}
	for _, tr := range c.Transitions {
		n.Transitions = append(n.Transitions, Transition{In: corpusArcs(number, tr.In), Out: corpusArcs(number, tr.Out)})
	}
	m := make(Marking, n.Places)
	for place, tokens := range c.Initial {
		m[number[place]] = tokens
	}
	return n, m
}

func corpusArcs(number map[string]int, arcs [][2]any) []Arc {
	var out []Arc
	for _, a := range arcs {
		out = append(out, Arc{Place: number[a[0].(string)], Weight: int(a[1].(float64))})
	}
	return out
}

// compare requires every known figure to be found exactly.
func (c *corpusNet) compare(t *testing.T, a *Analysis, want *expected) {
	var dead, unbounded []string
	for _, tr := range a.Dead {
		dead = append(dead, c.Transitions[tr].Name)
	}
	for _, place := range a.Unbounded {
		unbounded = append(unbounded, c.Places[place])
	}
	if !sameNames(dead, want.DeadTransitions) {
		t.Errorf("dead %v, want %v", dead, want.DeadTransitions)
	}
	if !sameNames(unbounded, want.Unbounded) {
		t.Errorf("unbounded %v, want %v", unbounded, want.Unbounded)
	}
	if want.States == nil {
		if a.Bounded != No || a.Pump == nil {
			t.Error("taken to be bounded")
		}
		return
	}
	if a.Stop != Finished || a.States != *want.States || a.Edges != *want.Edges || a.Deadlocks != *want.Deadlocks {
		t.Errorf("stop %d, %d states, %d edges, %d deadlocks; want %d, %d, %d", a.Stop, a.States, a.Edges, a.Deadlocks,
			*want.States, *want.Edges, *want.Deadlocks)
	}
	if len(want.Bounds) != len(c.Places) {
		t.Errorf("%d bounds are known", len(want.Bounds))
	}
	for place, name := range c.Places {
		if a.Bounds[place] != want.Bounds[name] {
			t.Errorf("bound of %s is %d, want %d", name, a.Bounds[place], want.Bounds[name])
		}
	}
}

func sameNames(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// checkInvariants checks the invariants against the transitions and the bounds.
func checkInvariants(t *testing.T, n *Net, initial Marking, a *Analysis) {
	t.Helper()
	for _, inv := range a.Invariants {
		sum := 0
		for _, w := range inv.Weights {
			sum += w.Weight * initial[w.Place]
			if a.Bounded == Yes && a.Stop == Finished && a.Bounds[w.Place]*w.Weight > inv.Constant {
				t.Errorf("bound %d of place %d contradicts %v", a.Bounds[w.Place], w.Place, inv)
			}
		}
		if sum != inv.Constant {
			t.Errorf("the sum of %v is %d", inv, sum)
		}
		for i := range n.Transitions {
			change := 0
			for _, w := range inv.Weights {
				change += w.Weight * (weight(n.Transitions[i].Out, w.Place) - weight(n.Transitions[i].In, w.Place))
			}
			if change != 0 {
				t.Errorf("transition %d changes %v", i, inv)
			}
		}
	}
}
