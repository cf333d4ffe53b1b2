package petri

import (
	"math"
	"slices"
	"testing"
)

func trans(in, out []int) Transition { return Transition{In: Arcs(in), Out: Arcs(out)} }

func TestArcsAreMultisets(t *testing.T) {
	want := []Arc{{Place: 2, Weight: 2}, {Place: 0, Weight: 1}}
	if got := Arcs([]int{2, 0, 2}); !slices.Equal(got, want) {
		t.Errorf("Arcs = %v, want %v", got, want)
	}
}

func TestFiring(t *testing.T) {
	for _, c := range []struct {
		name       string
		in, out    []int
		before     Marking
		enabled    bool
		after      Marking
		lasting    []Arc
		neverGrows bool
	}{
		{"move", []int{0}, []int{1}, Marking{1, 0}, true, Marking{0, 1}, []Arc{{0, 1}}, true},
		{"weight", []int{0, 0}, []int{1}, Marking{1, 0}, false, nil, []Arc{{0, 2}}, true},
		{"weight met", []int{0, 0}, []int{1}, Marking{2, 0}, true, Marking{0, 1}, []Arc{{0, 2}}, true},
		{"writes back", []int{0, 0, 1}, []int{0, 1}, Marking{2, 1}, true, Marking{1, 1}, []Arc{{0, 1}}, true},
		{"source", nil, []int{0}, Marking{0, 0}, true, Marking{1, 0}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := trans(c.in, c.out)
			if tr.Enabled(c.before) != c.enabled {
				t.Fatalf("enabled is %v", !c.enabled)
			}
			if got := tr.Consumed(); !slices.Equal(got, c.lasting) {
				t.Errorf("lasting %v, want %v", got, c.lasting)
			}
			n := Net{Places: 2, Transitions: []Transition{tr}}
			if n.NeverGrows() != c.neverGrows {
				t.Errorf("never grows is %v", !c.neverGrows)
			}
			if !c.enabled {
				return
			}
			m := slices.Clone(c.before)
			tr.Fire(m)
			if !slices.Equal(m, c.after) {
				t.Errorf("after %v, want %v", m, c.after)
			}
			m = slices.Clone(c.before)
			tr.Take(m)
			tr.GiveBack(m)
			if !slices.Equal(m, c.before) {
				t.Errorf("given back %v, want %v", m, c.before)
			}
		})
	}
}

func TestAdds(t *testing.T) {
	for _, c := range []struct {
		in, out []int
		want    bool
	}{
		{nil, nil, false},
		{nil, []int{0}, true},
		{[]int{0}, []int{0}, false},
		{[]int{0, 0, 1}, []int{0}, false},
		{[]int{0}, []int{0, 0}, true},
		{[]int{0}, []int{1}, true},
	} {
		if tr := (Transition{In: Arcs(c.in), Out: Arcs(c.out)}); tr.Adds() != c.want {
			t.Errorf("%v -> %v: %v", c.in, c.out, tr.Adds())
		}
	}
}

func TestConflictsWith(t *testing.T) {
	a, b, c := trans([]int{0}, nil), trans([]int{0, 1}, nil), trans([]int{2}, nil)
	if !a.ConflictsWith(&b, Marking{1, 1, 1}) || a.ConflictsWith(&b, Marking{2, 1, 1}) || a.ConflictsWith(&c, Marking{1, 1, 1}) {
		t.Error("only transitions that want more than there is clash")
	}
}

// budget is the net for "limit x to n per session".
func budget(n int) (*Net, Marking) {
	return &Net{Places: 3, Transitions: []Transition{trans([]int{0}, []int{1}), trans([]int{1, 2}, []int{1})}}, Marking{1, 0, n}
}

func TestAnalyzeCounts(t *testing.T) {
	n, m := budget(10_000)
	g := Analyze(n, m, Options{})
	if g.States != 10_002 || g.Edges != 10_001 || g.Deadlocks != 1 || g.Stop != Finished || g.Dead != nil || g.Pump != nil {
		t.Errorf("%d states, %d edges, %d deadlocks, stop %d", g.States, g.Edges, g.Deadlocks, g.Stop)
	}
	if !slices.Equal(g.Bounds, []int{1, 1, 10_000}) {
		t.Errorf("bounds %v", g.Bounds)
	}
}

func TestAnalyzeIsHonestAboutItsLimit(t *testing.T) {
	n, m := budget(10)
	for limit, stop := range map[int]Stop{11: StopStates, 12: Finished} {
		if g := Analyze(n, m, Options{MaxStates: limit, counter: math.MaxInt}); g.Stop != stop || g.States != limit {
			t.Errorf("limit %d: %d states, stop %d", limit, g.States, g.Stop)
		}
	}
}

func TestAnalyzeFindsDeadTransitions(t *testing.T) {
	n := &Net{Places: 2, Transitions: []Transition{trans([]int{0}, []int{0}), trans([]int{1}, nil)}}
	if g := Analyze(n, Marking{1, 0}, Options{}); !slices.Equal(g.Dead, []int{1}) || g.Deadlocks != 0 {
		t.Errorf("dead %v, deadlocks %d", g.Dead, g.Deadlocks)
	}
}

func TestShortestPath(t *testing.T) {
	// Two ways to place 3: through 1 and 2, or directly.
	n := &Net{Places: 4, Transitions: []Transition{
		trans([]int{0}, []int{1}), trans([]int{1}, []int{2}), trans([]int{2}, []int{3}), trans([]int{1}, []int{3}),
	}}
	if a := Analyze(n, Marking{1, 0, 0, 0}, Options{}); !slices.Equal(a.Trap, []int{0, 3}) {
		t.Errorf("path %v", a.Trap)
	}
}

func TestPump(t *testing.T) {
	// Transition 0 starts a loop of two transitions that leaves a token in place 3 each time.
	n := &Net{Places: 4, Transitions: []Transition{
		trans([]int{0}, []int{1}), trans([]int{1}, []int{2, 3}), trans([]int{2}, []int{1}),
	}}
	g := Analyze(n, Marking{1, 0, 0, 0}, Options{})
	if g.Pump == nil || g.Bounded != No {
		t.Fatal("taken to be bounded")
	}
	m := Marking{1, 0, 0, 0}
	for _, tr := range g.Pump.Prefix {
		n.Transitions[tr].Fire(m)
	}
	before := slices.Clone(m)
	for _, tr := range g.Pump.Cycle {
		if !n.Transitions[tr].Enabled(m) {
			t.Fatal("the pump does not run")
		}
		n.Transitions[tr].Fire(m)
	}
	for place := range m {
		if grew := m[place] > before[place]; m[place] < before[place] || grew != slices.Contains(g.Pump.Places, place) {
			t.Errorf("place %d: %d tokens, then %d; %v grow", place, before[place], m[place], g.Pump.Places)
		}
	}
}

func TestBoundedThoughItGrows(t *testing.T) {
	n := &Net{Places: 2, Transitions: []Transition{trans([]int{0}, []int{1, 1})}}
	if g := Analyze(n, Marking{7_000, 0}, Options{}); g.Pump != nil || g.Stop != Finished || g.States != 7_001 {
		t.Errorf("%d states, pump %v", g.States, g.Pump)
	}
}

func TestNetsWithoutPlaces(t *testing.T) {
	for transitions, want := range []Analysis{{Deadlocks: 1, Trapped: 1}, {Edges: 1}, {Edges: 2}} {
		n := &Net{Transitions: make([]Transition, transitions)}
		a := Analyze(n, nil, Options{Liveness: true})
		if a.States != 1 || a.Edges != want.Edges || a.Deadlocks != want.Deadlocks || a.Bounded != Yes || a.Live != Yes || a.Stop != Finished {
			t.Errorf("%d transitions: %+v", transitions, a)
		}
	}
}
