package explore

import "github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"

// A scope is a set of calls and the nets that they affect. It answers two questions without
// exploring combinations of net states: which calls every run to a goal contains (see [landmark]),
// and which calls no run contains (see [relaxation]).
type scope struct {
	nets  []*Net
	calls [][]callclass.Effect // for each call, the affected nets and its effects on them
	users [][]callclass.Effect // for each net, the calls that affect it and their effects
	fails bool                 // whether calls can have any outcome; if false, all calls succeed

	marked, opened []int // the value of round when each call was last marked and each net was last opened; a mark counts only if its value is the current round
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
// call is possible as soon as each net admits it in some reachable state, even if the nets cannot
// be in these states at the same time. It is therefore computed net by net, without product states
// (a Cartesian abstraction).
//
// The relaxation contains the nets' states in every run, so a call that it never admits is never
// admitted by the policy.
type relaxation struct {
	*scope
	possible []bool // for each call, whether it is possible
	each     []*relaxedNet
}

// A relaxedNet holds the states that a single net can reach in a relaxation. It also holds what
// calls in flight can leave in the net; see [holding].
type relaxedNet struct {
	*Net
	meanings []int // indexes of the effects that possible calls have on the net (see [callclass.Meaning])
	states   []int
	holds    []int    // indexes of the possible holdings
	killed   []uint64 // bit sets of observers; all observers in a set can stop waiting for calls to succeed at the same event
	any      bool     // whether the number of states and holdings exceeds the limit; the net is then assumed to block nothing
}
