package petri

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// corpusNet is a net of the corpus, and expected what is known about it.
type corpusNet struct {
	Places      []string
	Initial     map[string]int
	Transitions []struct {
		Name    string
		In, Out [][2]any
	}
}

type expected struct {
	States          *int
	Edges           *int
	Deadlocks       *int
	DeadTransitions []string       `json:"dead_transitions"`
	Bounds          map[string]int `json:"bounds"`
	Unbounded       []string       `json:"unbounded_places"`
}

// TestCorpus compares with nets whose properties independent programs agree
// on. PETRIGATE_NETS names their folder; without it there is nothing to do.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("PETRIGATE_NETS")
	doc, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if dir == "" || err != nil {
		t.Skip("no corpus here")
	}
	all := make(map[string]expected)
	if err := json.Unmarshal(doc, &all); err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		if want.States != nil && *want.States > 60_000 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			doc, err := os.ReadFile(filepath.Join(dir, name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var c corpusNet
			if err := json.Unmarshal(doc, &c); err != nil {
				t.Fatal(err)
			}
			c.compare(t, &want)
		})
	}
}

func (c *corpusNet) compare(t *testing.T, want *expected) {
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
	g := Explore(n, m, 60_001)
	if len(want.Unbounded) > 0 {
		if g.Pump == nil {
			t.Fatal("taken to be bounded")
		}
		for _, place := range g.Pump.Places {
			if !slices.Contains(want.Unbounded, c.Places[place]) {
				t.Errorf("place %s is bounded", c.Places[place])
			}
		}
		return
	}
	if g.Pump != nil || !g.Complete || want.States == nil || g.States != *want.States {
		t.Fatalf("%d states, complete %v, want %v", g.States, g.Complete, want.States)
	}
	if want.Edges != nil && g.Edges != *want.Edges || want.Deadlocks != nil && g.Deadlocks != *want.Deadlocks {
		t.Errorf("%d edges, %d deadlocks; want %v", g.Edges, g.Deadlocks, want)
	}
	if len(g.Dead) != len(want.DeadTransitions) {
		t.Errorf("dead %v, want %v", g.Dead, want.DeadTransitions)
	}
	for place, bound := range want.Bounds {
		if g.Bounds[number[place]] != bound {
			t.Errorf("bound of %s is %d, want %d", place, g.Bounds[number[place]], bound)
		}
	}
}

func corpusArcs(number map[string]int, arcs [][2]any) []Arc {
	var out []Arc
	for _, a := range arcs {
		out = append(out, Arc{Place: number[a[0].(string)], Weight: int(a[1].(float64))})
	}
	return out
}
