package explore

import "github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"

// A scope is a set of calls and the nets that they affect. Landmarks and relaxations are computed
// for a scope.
type scope struct {
	nets  []*Net
	calls [][]callclass.Effect // for each call, the affected nets and its effects on them
	users [][]callclass.Effect // for each net, the calls that affect it and their effects
	fails bool                 // whether calls can have any outcome; if false, all calls succeed

	marked, opened []int // marks of calls and nets: an element equal to round is marked, so incrementing round clears all marks
	round          int
	relaxed        *relaxation // the relaxation, computed on first use
}

func newScope(nets []*Net, calls [][]callclass.Effect) *scope {
	g := &scope{nets: nets, calls: calls, users: make([][]callclass.Effect, len(nets))}
	for c, effects := range calls {
		for _, t := range effects {
			g.users[t.Net] = append(g.users[t.Net], callclass.Effect{Net: c, Meaning: t.Meaning})
		}
	}
	g.marked, g.opened = make([]int, len(calls)), make([]int, len(nets))
	return g
}

// A relaxation is an over-approximation of the states that each net can reach. It assumes that a
// call can be made as soon as each net admits it in some reachable state, even if the nets cannot
// be in these states at the same time. This is a Cartesian abstraction: it is computed net by net,
// without product states.
//
// The relaxation covers every run, over all outcomes and interleavings. The proof is by
// contradiction. Consider the first event of a run that is not covered. Each net admitted that
// event's call in a covered state, so the relaxation also covers the call, its [holding] in each
// net, and the resulting states of each net. Hence a call that the relaxation never admits is never
// admitted.
type relaxation struct {
	*scope
	possible []bool // for each call, whether it is possible
	each     []*relaxedNet
}

// A relaxedNet holds the states that a single net can reach, and the parts of these states that can
// belong to a call in flight (see [holding]).
type relaxedNet struct {
	*Net
	meanings []int // indexes of the effects that possible calls have on the net (see [callclass.Meaning])
	states   []int
	holds    []int    // indexes of the holdings that calls in flight can have; see [holding]
	killed   []uint64 // bit sets of observers; the observers in a set can stop waiting at the same event
	any      bool     // whether the number of states and holdings exceeds the limit; the net is then assumed to block nothing
}
