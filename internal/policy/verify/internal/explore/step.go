package explore

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// begin returns the result of beginning a call with effect e in the given local state. The result
// is cached.
func (n *Net) begin(state, e int) *callStart {
	l := &n.locals.List[state]
	for len(l.begins) <= e {
		l.begins = append(l.begins, nil)
	}
	if l.begins[e] == nil {
		b := n.compute(state, n.Meanings.List[e])
		n.locals.List[state].begins[e] = b // not l.begins: compute may have reallocated n.locals.List
		return b
	}
	return l.begins[e]
}

func (n *Net) compute(state int, e callclass.Meaning) *callStart {
	l := &n.locals.List[state]
	v, chosen := n.judge(l, e)
	b := &callStart{verdict: v, next: state}
	if v != gates {
		return b
	}
	next := l.clone()
	var h holding
	for _, t := range chosen {
		def := &n.Info.Transitions[t]
		if def.Manual {
			b.manual, b.asks = true, append(b.asks, t)
		}
		switch {
		case def.Deferred && def.Observe:
			h.watches = append(h.watches, t)
		case def.Deferred:
			n.Trans[t].Take(next.marking)
			if len(n.Trans[t].In) > 0 { // transitions without inputs hold no tokens and can be in flight any number of times
				next.flights[t]++
			}
			h.flights = append(h.flights, t)
		default:
			n.Trans[t].Fire(next.marking)
			b.killed |= n.endedWatches(next.marking)
			h.watches = n.keptWatches(h.watches, n.endedWatches(next.marking))
		}
	}
	n.spoil(e, &next, &h, b)
	if !n.advance(&next) {
		return &callStart{verdict: blocks, next: state} // the gate refuses a call if structural transitions would then fire forever
	}
	b.next, b.hold = n.intern(next), n.internHold(h)
	return b
}

// spoil fires the call's enabled transitions that keep other calls from counting toward
// requirements (see [gate.Transition.Spoils]). If the call has such transitions, even disabled
// ones, all observers of the net stop waiting for calls to succeed.
func (n *structure) spoil(e callclass.Meaning, next *localState, h *holding, b *callStart) {
	for _, t := range e.Spoilers() {
		if n.Trans[t].Enabled(next.marking) {
			n.Trans[t].Fire(next.marking)
		}
	}
	if n.spoils && e.Spoils() {
		next.spoiled, h.spoils = true, true
		h.watches, b.killed = nil, ^uint64(0)
	}
}

// unspoil returns the index of the local state that follows the given one when all calls that keep
// other calls from counting toward requirements have ended (see [gate.Transition.Spoils]).
func (n *Net) unspoil(state int) int {
	if !n.locals.List[state].spoiled {
		return state
	}
	l := n.locals.List[state].clone()
	l.spoiled = false
	return n.intern(l)
}

// judge returns the net's verdict on a call with effect e in the given local state, and chooses the
// transitions that the call fires. It evaluates the call's names in order, as the gate does.
func (n *structure) judge(l *localState, e callclass.Meaning) (v verdict, chosen []int) {
	scratch := slices.Clone(l.marking)
	blocked, forbids := false, false
	for _, a := range e {
		if a.Free {
			v = max(v, frees)
			continue
		}
		if a.Refused {
			blocked = true
			continue
		}
		if len(a.Barred) > 0 {
			blocked = blocked || n.holds(l, a.Barred)
			continue
		}
		observed := n.Observed(a.Transitions)
		t := n.candidate(l, a.Transitions, observed)
		switch {
		case t < 0 && observed && !l.stuck:
		case t < 0:
			blocked = true
		case slices.Contains(a.Idle, t):
		case n.Info.Transitions[t].Observe:
			if !a.Weak && !slices.Contains(chosen, t) && !n.void(l, e, t) && n.take(t, scratch) {
				chosen, v = append(chosen, t), max(v, gates)
			}
		case slices.Contains(chosen, t):
		case a.Weak && n.Adds[t]:
			blocked = true
		case !n.take(t, scratch):
			blocked = true
		default:
			chosen, v, forbids = append(chosen, t), max(v, gates), true
		}
	}
	if blocked {
		return blocks, nil
	}
	if forbids {
		chosen = slices.DeleteFunc(chosen, func(t int) bool { return n.Info.Transitions[t].Observe })
		chosen = n.earn(l, e, chosen)
	}
	if e.Spoils() {
		v = gates
	}
	return v, chosen
}

// lists reports whether some transition lists a name of the calls with the given effect. The
// argument is the index of the effect in n.Meanings. Phases and free names do not count.
func (n *structure) lists(meaning int) bool {
	return slices.ContainsFunc(n.Meanings.List[meaning], func(a callclass.Ask) bool { return len(a.Barred) == 0 && !a.Free })
}

// holds reports whether any of the places is marked, which makes its phase active. A token in
// flight counts as being in the place that it was taken from.
func (n *structure) holds(l *localState, places []int) bool {
	present := n.restoredMarking(l)
	return slices.ContainsFunc(places, func(p int) bool { return present[p] > 0 })
}

// void reports whether transition t waits for calls to succeed but would not count this call. It
// would not if this call, or a call in flight, prevents calls from counting toward requirements
// (see [gate.Transition.Spoils]).
func (n *structure) void(l *localState, e callclass.Meaning, t int) bool {
	def := &n.Info.Transitions[t]
	return def.Deferred && (l.spoiled || e.Spoils())
}

// earn adds transitions to chosen and returns the result. chosen contains the transitions that gate
// the call. The added transitions count the call toward a requirement; they must still be enabled
// after the chosen transitions have taken their tokens.
func (n *structure) earn(l *localState, e callclass.Meaning, chosen []int) []int {
	after := slices.Clone(l.marking)
	for _, t := range chosen {
		if n.Info.Transitions[t].Deferred {
			n.Trans[t].Take(after)
		} else {
			n.Trans[t].Fire(after)
		}
	}
	for _, a := range e {
		for _, t := range a.Transitions {
			counts := n.Info.Transitions[t].Evidence && !a.Free && !a.Weak && !slices.Contains(a.Idle, t) && !slices.Contains(chosen, t)
			if counts && !n.void(l, e, t) && n.Trans[t].Enabled(after) {
				chosen = append(chosen, t)
			}
		}
	}
	return chosen
}

// candidate returns the first enabled transition among those given, or -1 if they are all disabled
// or the net is stuck. Unless observed is true, candidate skips transitions that only count calls
// toward a requirement.
func (n *structure) candidate(l *localState, lists []int, observed bool) int {
	if l.stuck {
		return -1
	}
	for _, t := range lists {
		if (observed || !n.Info.Transitions[t].Evidence) && n.Trans[t].Enabled(l.marking) {
			return t
		}
	}
	return -1
}

// take removes from m the tokens that transition t takes when a call begins. It leaves tokens that
// t would put back immediately. take reports whether t is enabled; if t is disabled, take does
// nothing.
func (n *structure) take(t int, m petri.Marking) bool {
	if !n.Trans[t].Enabled(m) {
		return false
	}
	def := &n.Info.Transitions[t]
	switch {
	case def.Observe && def.Deferred:
	case def.Deferred:
		n.Trans[t].Take(m)
	default:
		for _, a := range n.lasting[t] {
			m[a.Place] -= a.Weight
		}
	}
	return true
}

// endedWatches returns, as a bit set, the observers that stop waiting because they are not enabled
// in marking m.
func (n *structure) endedWatches(m petri.Marking) uint64 {
	var set uint64
	for t, w := range n.watchAt {
		if w >= 0 && !n.Trans[t].Enabled(m) {
			set |= 1 << w
		}
	}
	return set
}

// keptWatches returns the given observers without those in the bit set killed.
func (n *structure) keptWatches(watches []int, killed uint64) []int {
	if killed == 0 {
		return watches
	}
	return slices.DeleteFunc(slices.Clone(watches), func(t int) bool { return killed&(1<<n.watchAt[t]) != 0 })
}

// tokenless reports whether a call has no tokens in flight. hold is the index of the call's
// [holding].
func (n *Net) tokenless(hold int) bool {
	return !slices.ContainsFunc(n.held.List[hold].flights, func(t int) bool { return len(n.Trans[t].In) > 0 })
}

// dropWatches removes the observers in the bit set killed from a [holding]. It takes the holding's
// index and returns the index of the result.
func (n *Net) dropWatches(hold int, killed uint64) int {
	h := n.held.List[hold]
	kept := n.keptWatches(h.watches, killed)
	if len(kept) == len(h.watches) {
		return hold
	}
	return n.internHold(holding{flights: h.flights, watches: kept, spoils: h.spoils})
}

// end returns the result of ending a call in the given local state with outcome o. hold is the
// index of the call's [holding]. The result is cached.
func (n *Net) end(state, hold int, o gate.Outcome) *callEnd {
	key := endKey{state, hold, o}
	if e := n.ends[key]; e != nil {
		return e
	}
	next := n.locals.List[state].clone()
	e := &callEnd{}
	h := n.held.List[hold]
	rest := holding{spoils: h.spoils && o == gate.Unknown}
	var done []int
	for _, t := range h.flights {
		if o == gate.Unknown && !n.Info.Transitions[t].Release {
			rest.flights = append(rest.flights, t)
			continue
		}
		if len(n.Trans[t].In) > 0 {
			next.flights[t]--
		}
		done = append(done, t)
	}
	if o == gate.Success {
		e.killed = n.succeed(&next, done, h.watches)
	} else {
		for _, t := range done {
			n.Trans[t].GiveBack(next.marking)
		}
	}
	next.stuck = false
	if !n.advance(&next) {
		next.stuck = true
	}
	e.next, e.hold = n.intern(next), n.internHold(rest)
	n.ends[key] = e
	return e
}

// succeed updates the local state after a call has succeeded. It adds the outputs of the
// transitions in done, which took their inputs when the call began. Then it fires the observers in
// watches that are still enabled. killed is the bit set of the observers that stop waiting because
// they have become disabled.
func (n *structure) succeed(l *localState, done, watches []int) (killed uint64) {
	for _, t := range done {
		n.Trans[t].Put(l.marking)
		killed |= n.endedWatches(l.marking)
	}
	watches = n.keptWatches(watches, killed)
	for len(watches) > 0 {
		t := watches[0]
		watches = watches[1:]
		if !n.Trans[t].Enabled(l.marking) {
			continue
		}
		n.Trans[t].Fire(l.marking)
		gone := n.endedWatches(l.marking)
		killed |= gone
		watches = n.keptWatches(watches, gone)
	}
	return killed
}

// success returns the index of the local state after a call with the given effect has begun and
// succeeded while no other call was in flight.
func (n *Net) success(state, effect int) int {
	b := n.begin(state, effect)
	if b.hold == 0 {
		return b.next
	}
	next := n.end(b.next, b.hold, gate.Success).next
	if n.locals.List[state].spoiled {
		return next
	}
	return n.unspoil(next)
}
