package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// relax returns the scope's [relaxation], computing it on first use.
func (g *scope) relax() *relaxation {
	if g.relaxed != nil {
		return g.relaxed
	}
	each := list.Map(g.nets, func(n *Net) *relaxedNet { return &relaxedNet{Net: n, states: []int{0}} })
	r := &relaxation{scope: g, possible: make([]bool, len(g.calls)), each: each}
	for again := true; again; {
		again = false
		for c, effects := range g.calls {
			if r.possible[c] || r.blocker(c) >= 0 {
				continue
			}
			r.possible[c], again = true, true
			for _, t := range effects {
				r.each[t.Net].addMeaning(t.Meaning)
			}
		}
	}
	g.relaxed = r
	return r
}

// blocker returns the index of a net that never admits call c, or -1 if every net can admit it.
func (r *relaxation) blocker(c int) int {
	for _, t := range r.calls[c] {
		if r.each[t.Net].alwaysBlocks(t.Meaning) {
			return t.Net
		}
	}
	return -1
}

// blockers returns nets that together admit no call in goal. It starts with the nets that never
// admit such a call. It adds the nets that never admit the calls that would change the states of
// the first nets, and so on. ok is false if the relaxation admits a call in goal.
func (r *relaxation) blockers(goal []int) (nets []int, ok bool) {
	in := make([]bool, len(r.each))
	add := func(c int) {
		if slices.ContainsFunc(r.calls[c], func(t callclass.Effect) bool { return in[t.Net] && r.each[t.Net].alwaysBlocks(t.Meaning) }) {
			return
		}
		n := r.blocker(c)
		in[n], nets = true, append(nets, n)
	}
	for _, c := range goal {
		if r.possible[c] {
			return nil, false
		}
		add(c)
	}
	for k := 0; k < len(nets); k++ {
		for _, u := range r.users[nets[k]] {
			if !r.possible[u.Net] {
				add(u.Net)
			}
		}
	}
	slices.Sort(nets)
	return nets, true
}

// alwaysBlocks reports whether the net blocks calls with the given meaning in every state that the
// relaxation has found so far. The argument is the index of a [callclass.Meaning], which describes
// the effect of the calls on the net. If the net has too many states, alwaysBlocks returns false.
func (x *relaxedNet) alwaysBlocks(meaning int) bool {
	return !x.any && !slices.ContainsFunc(x.states, func(s int) bool { return x.begin(s, meaning).verdict != blocks })
}

// addMeaning records that calls with the given meaning are possible, and adds the states that the
// net can then reach. The argument is the index of a [callclass.Meaning], which describes the
// effect of the calls on the net.
func (x *relaxedNet) addMeaning(meaning int) {
	if slices.Contains(x.meanings, meaning) {
		return
	}
	x.meanings = append(x.meanings, meaning)
	for before := -1; before != x.size() && !x.any; {
		before = x.size()
		for k := 0; k < len(x.states); k++ {
			x.step(x.states[k])
			if x.any = len(x.states)+len(x.holds) > maxLocals; x.any {
				return
			}
		}
	}
}

func (x *relaxedNet) size() int { return len(x.states) + len(x.holds) + len(x.killed) }

// step adds the states that can follow the given one: those after a call begins and those after a
// call in flight ends.
func (x *relaxedNet) step(state int) {
	for _, e := range x.meanings {
		if b := x.begin(state, e); b.verdict != blocks {
			x.add(b.next, b.hold, b.killed)
		}
	}
	for k := 0; k < len(x.holds); k++ {
		if h := x.holds[k]; x.inFlight(state, h) {
			for _, o := range outcomes[succeeds : unknown+1] {
				e := x.end(state, h, o)
				x.add(e.next, e.hold, e.killed)
			}
		}
	}
}

// add records that the net can reach the given state and that a call with the given [holding] can
// be in flight. It also records that the observers in killed can stop waiting for calls to succeed
// at the same event. Then it adds the consequences: the state where no call prevents other calls
// from counting toward a requirement, and the known holdings without the observers in killed.
func (x *relaxedNet) add(state, hold int, killed uint64) {
	before := x.size()
	x.states = list.Add(x.states, state, x.unspoil(state))
	if killed != 0 {
		x.killed = list.Add(x.killed, killed)
	}
	if hold > 0 {
		x.holds = list.Add(x.holds, hold)
	}
	if x.size() == before {
		return
	}
	for k := 0; k < len(x.holds); k++ {
		for _, gone := range x.killed {
			if h := x.dropWatches(x.holds[k], gone); h > 0 {
				x.holds = list.Add(x.holds, h)
			}
		}
	}
}

// inFlight reports whether a call with the given [holding] can be in flight in the given state.
func (n *Net) inFlight(state, hold int) bool {
	flights := slices.Clone(n.locals.List[state].flights)
	return !slices.ContainsFunc(n.held.List[hold].flights, func(t int) bool {
		flights[t]--
		return len(n.Trans[t].In) > 0 && flights[t] < 0
	})
}
