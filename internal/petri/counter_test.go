package petri

import (
	"slices"
	"testing"
)

// counterNets are nets with n tokens in a counter.
var counterNets = map[string]func(n int) (*Net, Marking){
	"limit": budget,
	"limit with refill": func(n int) (*Net, Marking) { // idle, ready, budget, spent
		return &Net{Places: 4, Transitions: []Transition{
			trans([]int{0}, []int{1}), trans([]int{1, 2}, []int{1, 3}), trans([]int{1, 3}, []int{1, 2}),
		}}, Marking{1, 0, n, 0}
	},
	"deferred limit with refill": func(n int) (*Net, Marking) { // ready, budget, busy, spent
		return &Net{Places: 4, Transitions: []Transition{
			trans([]int{0, 1}, []int{2}), trans([]int{2}, []int{0, 3}), trans([]int{2}, []int{0, 1}), trans([]int{3, 0}, []int{0, 1}),
		}}, Marking{1, n, 0, 0}
	},
	"refill of two at a time": func(n int) (*Net, Marking) { // ready, budget, spent
		return &Net{Places: 3, Transitions: []Transition{
			trans([]int{0, 1}, []int{0, 2}), trans([]int{0, 2, 2}, []int{0, 1, 1}),
		}}, Marking{1, n, 0}
	},
	"two budgets": func(n int) (*Net, Marking) { // first, second, spent of each
		return &Net{Places: 4, Transitions: []Transition{
			trans([]int{0}, []int{2}), trans([]int{1}, []int{3}), trans([]int{2}, []int{0}), trans([]int{3, 3}, []int{1, 1}),
		}}, Marking{n, n, 0, 0}
	},
	"a budget that buys another": func(n int) (*Net, Marking) { // money, goods
		return &Net{Places: 2, Transitions: []Transition{trans([]int{0, 0}, []int{1}), trans([]int{1}, nil)}}, Marking{n, 0}
	},
	"three in a row": func(n int) (*Net, Marking) {
		return &Net{Places: 3, Transitions: []Transition{trans([]int{0}, []int{1}), trans([]int{1}, []int{2})}}, Marking{n, 0, 0}
	},
	"three in a ring, and a pair": func(n int) (*Net, Marking) {
		return &Net{Places: 5, Transitions: []Transition{
			trans([]int{0}, []int{1}), trans([]int{1}, []int{2}), trans([]int{2}, []int{0}), trans([]int{3}, []int{4}), trans([]int{4}, []int{3}),
		}}, Marking{n, 0, 0, n, 0}
	},
	"a long way round": func(n int) (*Net, Marking) { // three steps take a token from the budget
		return &Net{Places: 4, Transitions: []Transition{
			trans([]int{0, 3}, []int{1}), trans([]int{1, 3}, []int{2, 3, 3}), trans([]int{2, 3}, []int{0}),
		}}, Marking{1, 0, 0, n}
	},
	"four counters": func(n int) (*Net, Marking) {
		return &Net{Places: 4, Transitions: []Transition{trans([]int{0}, nil), trans([]int{1}, nil), trans([]int{2}, nil), trans([]int{3}, nil)}},
			Marking{n / 2, n / 2, n / 2, n / 2}
	},
}

// TestCounters compares ranges with states visited one by one, for every terminal place.
func TestCounters(t *testing.T) {
	for name, make := range counterNets {
		for _, tokens := range []int{7, 12} {
			n, m := make(tokens)
			o := enumerate(n, m, 100_000)
			for terminal := range n.Places {
				for _, counter := range []int{tokens / 2, tokens, 1 << 30} {
					a := Analyze(n, m, Options{Liveness: true, Terminal: []int{terminal}, counter: counter})
					if !agree(t, n, o, a, []int{terminal}) {
						t.Errorf("%s with %d tokens, counters from %d, terminal place %d", name, tokens, counter, terminal)
					}
				}
			}
		}
	}
}

// TestCountersDoNotCostTheirSize uses budgets of a million.
func TestCountersDoNotCostTheirSize(t *testing.T) {
	const n = 1_000_000
	for name, want := range map[string]struct {
		states, deadlocks int
		notLive           []int
	}{
		"limit":                      {n + 2, 1, []int{0, 1}},
		"limit with refill":          {n + 2, 0, []int{0}},
		"deferred limit with refill": {2*n + 1, 0, nil},
		"a long way round":           {3*n - 1, 1, []int{0, 1, 2}},
	} {
		net, m := counterNets[name](n)
		a := Analyze(net, m, Options{Liveness: true, MaxStates: 1000})
		if a.Stop != Finished || a.States != want.states || a.Deadlocks != want.deadlocks || !slices.Equal(a.NotLive, want.notLive) {
			t.Errorf("%s: stop %d, %d states, %d deadlocks, not live %v", name, a.Stop, a.States, a.Deadlocks, a.NotLive)
		}
	}
}

func TestTooManyCountsAreNotCounted(t *testing.T) {
	loop := func(place int) Transition { return trans([]int{place}, nil) }
	n := &Net{Places: 3, Transitions: []Transition{loop(0), loop(1), loop(2)}}
	a := Analyze(n, Marking{1 << 31, 1 << 31, 1 << 31}, Options{MaxStates: 1000})
	if a.Stop != StopStates || a.Bounded != Yes {
		t.Errorf("stop %d, %d states", a.Stop, a.States)
	}
}

func TestCountersStopWhenAsked(t *testing.T) {
	n, m := budget(1000)
	asked := 0
	a := Analyze(n, m, Options{Continue: func(int) bool { asked++; return false }})
	if a.Stop != StopAsked || asked == 0 {
		t.Errorf("stop %d", a.Stop)
	}
	if a := Analyze(n, m, Options{}); a.Live != No || a.Stop != Finished {
		t.Errorf("live %d, stop %d", a.Live, a.Stop)
	}
	dead := &Net{Places: 2, Transitions: append(slices.Clone(n.Transitions), trans(nil, nil))}
	dead.Places = 4
	dead.Transitions = append(dead.Transitions, trans([]int{3}, nil))
	if a := Analyze(dead, append(m, 0), Options{}); a.Live != No || !slices.Equal(a.NotLive, []int{3}) || a.Deadlocks != 0 {
		t.Errorf("live %d, not live %v, %d deadlocks", a.Live, a.NotLive, a.Deadlocks)
	}
}

// TestCountersFallBack uses ranges with gaps, which need too many boxes.
func TestCountersFallBack(t *testing.T) {
	n, m := counterNets["a budget that buys another"](100_000)
	if a := Analyze(n, m, Options{MaxStates: 1000}); a.Stop != StopStates || a.States != 1000 || a.Bounded != Yes {
		t.Errorf("stop %d, %d states, bounded %d", a.Stop, a.States, a.Bounded)
	}
	// A terminal place that is the mirror of a counter, and one that is small.
	n, m = counterNets["limit with refill"](1000)
	n.Transitions = n.Transitions[:2]
	for terminal, trapped := range []int{1, 0, 1, 0} {
		if a := Analyze(n, m, Options{Terminal: []int{terminal}}); a.Deadlocks != 1 || a.Trapped != trapped {
			t.Errorf("terminal place %d: %d deadlocks, %d trapped", terminal, a.Deadlocks, a.Trapped)
		}
	}
}
