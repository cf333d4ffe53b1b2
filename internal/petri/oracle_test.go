package petri

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/internal/soak"
)

// oracle enumerates states in the simplest way, with a map of strings.
type oracle struct {
	net       *Net
	states    []Marking
	index     map[string]int
	next      [][]int // of each state
	enabled   [][]int
	edges     int
	deadlocks int
}

// enumerate returns nil if there are more than limit states.
func enumerate(n *Net, initial Marking, limit int) *oracle {
	o := &oracle{net: n, index: map[string]int{}}
	o.add(initial)
	for i := 0; i < len(o.states); i++ {
		o.next, o.enabled = append(o.next, nil), append(o.enabled, nil)
		for t := range n.Transitions {
			if !n.Transitions[t].Enabled(o.states[i]) {
				continue
			}
			m := slices.Clone(o.states[i])
			n.Transitions[t].Fire(m)
			o.next[i], o.enabled[i] = append(o.next[i], o.add(m)), append(o.enabled[i], t)
		}
		o.edges += len(o.next[i])
		if len(o.next[i]) == 0 {
			o.deadlocks++
		}
		if len(o.states) > limit {
			return nil
		}
	}
	return o
}

func (o *oracle) add(m Marking) int {
	key := string(m.AppendKey(nil))
	i, ok := o.index[key]
	if !ok {
		i = len(o.states)
		o.index[key] = i
		o.states = append(o.states, m)
	}
	return i
}

func (o *oracle) bounds() []int {
	bounds := make([]int, o.net.Places)
	for _, m := range o.states {
		for p, tokens := range m {
			bounds[p] = max(bounds[p], tokens)
		}
	}
	return bounds
}

func (o *oracle) dead() []int {
	fired := make([]bool, len(o.net.Transitions))
	for _, ts := range o.enabled {
		for _, t := range ts {
			fired[t] = true
		}
	}
	return unfired(fired)
}

// notLive searches, from every state separately, for a state that enables t.
func (o *oracle) notLive() []int {
	var lost []int
	for t := range o.net.Transitions {
		can := make([]bool, len(o.states))
		for changed := true; changed; {
			changed = false
			for i := range o.states {
				if can[i] {
					continue
				}
				if slices.Contains(o.enabled[i], t) || slices.ContainsFunc(o.next[i], func(j int) bool { return can[j] }) {
					can[i], changed = true, true
				}
			}
		}
		if slices.Contains(can, false) {
			lost = append(lost, t)
		}
	}
	return lost
}

// trapped counts the deadlocks without a marked terminal place.
func (o *oracle) trapped(terminal []int) int {
	n := 0
	for i, m := range o.states {
		if len(o.next[i]) == 0 && !slices.ContainsFunc(terminal, func(p int) bool { return m[p] > 0 }) {
			n++
		}
	}
	return n
}

// randomNet returns a small net. Most of these nets are bounded, and some have many transitions.
func randomNet(r *rand.Rand, tokens int) (*Net, Marking) {
	n := &Net{Places: 1 + r.IntN(6)}
	m := make(Marking, n.Places)
	for p := range m {
		if r.IntN(2) == 0 {
			m[p] = r.IntN(4)
		}
	}
	if tokens > 0 {
		m[r.IntN(n.Places)] = r.IntN(tokens)
	}
	transitions := 1 + r.IntN(7)
	if r.IntN(10) == 0 {
		transitions = manyTransitions + r.IntN(30)
	}
	for range transitions {
		var in, out []int
		for range r.IntN(4) {
			in = append(in, r.IntN(n.Places))
		}
		for range r.IntN(len(in) + 2) {
			out = append(out, r.IntN(n.Places))
		}
		if len(out) > len(in) && r.IntN(3) > 0 {
			out = out[:len(in)]
		}
		n.Transitions = append(n.Transitions, trans(in, out))
	}
	return n, m
}

// TestRandomNets compares all results of an analysis with the oracle, for states visited one by one
// and, if there are any, with counters.
func TestRandomNets(t *testing.T) {
	seed, rounds := soak.Range(t, 160)
	r := rand.New(rand.NewPCG(seed, 14))
	bounded, counted := 0, 0
	for round := range rounds {
		n, m := randomNet(r, 40*(round%2))
		o := enumerate(n, m, 3_000)
		options := Options{MaxStates: 200_000, Terminal: []int{r.IntN(n.Places)}, Liveness: true, counter: 1 << 30}
		if round%2 == 1 {
			options.counter = 8
		}
		a := Analyze(n, m, options)
		if o == nil {
			if a.Pump != nil {
				checkPump(t, n, m, a)
			}
			continue
		}
		bounded++
		if a.Bounds != nil && newCounterSearch(n, m, a.Bounds, a.Invariants, options.counter) != nil {
			counted++
		}
		if !agree(t, n, o, a, options.Terminal) {
			t.Fatalf("round %d: %+v from %v", round, n, m)
		}
		checkInvariants(t, n, m, a)
	}
	t.Logf("%d nets are bounded, %d of them have counters", bounded, counted)
}

func agree(t *testing.T, n *Net, o *oracle, a *Analysis, terminal []int) bool {
	lost := o.notLive()
	live := Yes
	if len(lost) > 0 {
		live = No
	}
	trapped := o.trapped(terminal)
	switch {
	case a.Bounded != Yes || a.Stop != Finished:
		t.Errorf("bounded %v, stop %v, pump %v", a.Bounded, a.Stop, a.Pump)
	case a.States != len(o.states) || a.Edges != o.edges || a.Deadlocks != o.deadlocks || a.Trapped != trapped:
		t.Errorf("%d states, %d edges, %d deadlocks, %d trapped; want %d, %d, %d, %d", a.States, a.Edges, a.Deadlocks, a.Trapped,
			len(o.states), o.edges, o.deadlocks, trapped)
	case !slices.Equal(a.Dead, o.dead()) || !slices.Equal(a.Bounds, o.bounds()):
		t.Errorf("dead %v, bounds %v; want %v, %v", a.Dead, a.Bounds, o.dead(), o.bounds())
	case a.Live != live || !slices.Equal(a.NotLive, lost):
		t.Errorf("live %v, not live %v; want %v", a.Live, a.NotLive, lost)
	case a.Trap != nil && !o.endsTrapped(a.Trap, terminal):
		t.Errorf("%v is no way into a trap", a.Trap)
	default:
		return true
	}
	return false
}

func (o *oracle) endsTrapped(path, terminal []int) bool {
	m := slices.Clone(o.states[0])
	for _, t := range path {
		if !o.net.Transitions[t].Enabled(m) {
			return false
		}
		o.net.Transitions[t].Fire(m)
	}
	i := o.index[string(m.AppendKey(nil))]
	return len(o.next[i]) == 0 && !slices.ContainsFunc(terminal, func(p int) bool { return m[p] > 0 })
}

// checkPump fires the pump.
func checkPump(t *testing.T, n *Net, initial Marking, a *Analysis) {
	t.Helper()
	m := slices.Clone(initial)
	run := func(path []int) {
		for _, tr := range path {
			if !n.Transitions[tr].Enabled(m) {
				t.Fatalf("%v then %v does not run in %+v", a.Pump.Prefix, a.Pump.Cycle, n)
			}
			n.Transitions[tr].Fire(m)
		}
	}
	run(a.Pump.Prefix)
	before := slices.Clone(m)
	run(a.Pump.Cycle)
	for place := range m {
		if grew := m[place] > before[place]; m[place] < before[place] || grew != slices.Contains(a.Pump.Places, place) {
			t.Errorf("place %d: %d tokens, then %d; %v grow", place, before[place], m[place], a.Pump.Places)
		}
		if m[place] > before[place] && !slices.Contains(a.Unbounded, place) {
			t.Errorf("place %d grows and is not among %v", place, a.Unbounded)
		}
	}
}
