package petri

import "slices"

// Analyze explores a net's behavior from its initial marking. No token count in the initial marking
// may be negative or larger than 1<<40.
//
// Analyze first looks for a proof that the net is bounded: invariants that cover all places, or a
// finite coverability graph. It never enumerates the states of an unbounded net. Large counters
// that change only by one are stored as ranges, so that their cost does not depend on their size.
func Analyze(n *Net, initial Marking, o Options) *Analysis {
	a := &Analysis{}
	a.Invariants, a.AllInvariants = Invariants(n, initial)
	bounds := a.bound(n, initial)
	if a.Bounded == No {
		a.coverWhole(n, initial)
	} else if !a.exploreCounters(n, initial, bounds, &o) {
		a.search(n, initial, bounds, &o)
	}
	return a
}

// bound sets a.Bounded if a quick proof shows whether the net is bounded. It returns an upper bound
// for the token count in each place, or -1 if it is unknown.
func (a *Analysis) bound(n *Net, initial Marking) []int {
	bounds := invariantBounds(n.Places, a.Invariants)
	if !slices.Contains(bounds, -1) || n.NeverGrows() {
		a.Bounded = Yes
		return bounds
	}
	c := newCover(n, initial, coverBudget(n, quickCover), true)
	switch {
	case c.pump != nil:
		a.Bounded = No
	case c.complete:
		a.Bounded = Yes
		return c.bounds()
	}
	return bounds
}

// coverWhole analyzes an unbounded net by a coverability search. If the search cannot be completed,
// coverWhole lists the unbounded places found so far, but does not look for dead transitions.
func (a *Analysis) coverWhole(n *Net, initial Marking) {
	c := newCover(n, initial, coverBudget(n, thoroughCover), false)
	a.Pump, a.Bounded = c.pump, No
	a.Bounds = c.bounds()
	for place, bound := range a.Bounds {
		if bound == Omega {
			a.Unbounded = append(a.Unbounded, place)
		}
	}
	if !c.complete {
		a.Stop = StopStates
		return
	}
	a.Stop = Finished
	a.Dead = unfired(c.fired)
}

// search completes the analysis by visiting the reachable states. If there are too many, it looks
// for a proof that the net is unbounded, and for deadlocks.
func (a *Analysis) search(n *Net, initial Marking, bounds []int, o *Options) {
	s := newSearch(n, initial, bounds)
	a.Stop = s.run(o)
	if a.Stop == Finished {
		a.Bounded = Yes
	}
	if a.Bounded == Unknown && a.Stop != StopAsked {
		if c := newCover(n, initial, coverBudget(n, thoroughCover), true); c.pump != nil {
			a.coverWhole(n, initial)
			return
		}
	}
	a.States, a.Edges, a.Deadlocks, a.Trapped = s.states.len(), s.edges, s.deadlocks, s.trapped
	a.Bounds, a.Dead = s.bounds(), unfired(s.fired)
	a.BytesPerState = s.states.bytesPerState()
	a.Trap = s.pathToTrap()
	switch a.Stop {
	case Finished:
		a.Live, a.NotLive = s.liveness(o)
	case StopStates, StopMemory: // too many states to find all deadlocks this way
		d, _ := findDeadlocks(n, initial, bounds, o)
		a.Deadlocks, a.Trapped = max(a.Deadlocks, d.deadlocks), max(a.Trapped, d.trapped)
		if a.Trap == nil {
			a.Trap = d.pathToTrap()
		}
	}
}

// Conserves reports whether the weighted sum of tokens is the same in every reachable marking.
// weights has one entry per place.
func Conserves(n *Net, initial Marking, weights []int, o Options) Answer {
	var changing []int // transitions that change the weighted sum
	for i := range n.Transitions {
		if t := &n.Transitions[i]; weigh(t.In, weights) != weigh(t.Out, weights) {
			changing = append(changing, i)
		}
	}
	if len(changing) == 0 {
		return Yes
	}
	a := Analyze(n, initial, o)
	fires := slices.ContainsFunc(changing, func(t int) bool { return !slices.Contains(a.Dead, t) })
	switch {
	case a.Stop != Finished && (a.Bounded == No || !fires):
		return Unknown // the search is incomplete and does not show whether these transitions can fire
	case fires:
		return No
	}
	return Yes
}

// findDeadlocks finds deadlocks while visiting only some of the other states. It has found all of
// them if the returned [Stop] is Finished. In each state, it fires only the transitions in a strong
// stubborn set. Transitions outside the set cannot interfere with it, so firing them later leads to
// the same deadlocks. The search proves nothing about the net except its deadlocks.
func findDeadlocks(n *Net, initial Marking, bounds []int, o *Options) (*search, Stop) {
	s := newSearch(n, initial, bounds)
	s.stubborn, s.known = newStubborn(n), &knownSuccessors{}
	return s, s.run(o)
}
