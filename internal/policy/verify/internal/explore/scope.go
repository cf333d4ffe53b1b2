package explore

import "github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"

// A scope is a set of calls and the nets that they affect. It answers two questions without a
// search over product states: which calls every run to a goal contains (see [landmark]), and which
// calls no run contains (see [relaxation]).
type scope struct {
	nets  []*Net
	calls [][]callclass.Effect // for each call, the affected nets and its effects on them
	users [][]callclass.Effect // for each net, the calls that affect it and their effects
	fails bool                 // whether calls can have any outcome; if false, all calls succeed

	marked, opened []int // for each call and each net, the value of round when it was last marked; incrementing round clears all marks
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
// No run leaves the states of the relaxation, whatever the outcomes and interleavings of its calls.
// This follows by induction over the events of the run. When a call begins, each net admits it in a
// state that the relaxation contains. The relaxation therefore also contains the states that follow
// when the call begins and when it ends. Hence a call that the relaxation never admits is never
// admitted.
type relaxation struct {
	*scope
	possible []bool // for each call, whether it is possible
	each     []*relaxedNet
}

// A relaxedNet holds the states that a single net can reach in a relaxation. It also holds the
// parts of these states that can belong to a single call in flight, called holdings.
type relaxedNet struct {
	*Net
	meanings []int // indexes of the effects that possible calls have on the net (see [callclass.Meaning])
	states   []int
	holds    []int    // indexes of the possible holdings
	killed   []uint64 // bit sets of observers, which wait for calls to succeed; the observers in a set can stop waiting at the same event
	any      bool     // whether the number of states and holdings exceeds the limit; the net is then assumed to block nothing
}
