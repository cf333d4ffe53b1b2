package explore

import "github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"

// A scope is a set of calls and the nets that they affect. It computes landmarks and relaxations
// for these calls.
type scope struct {
	nets  []*Net
	calls [][]callclass.Effect // by call: net and effect
	users [][]callclass.Effect // by net: call and effect
	fails bool                 // calls may have any outcome; otherwise they succeed

	marked, opened []int // round where the call, or the net, was last visited
	round          int
	relaxed        *relaxation // computed when first needed
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

// A relaxation holds what each net can reach by itself if every call is made that each net admits
// in some state that it can reach this way: a Cartesian abstraction. It is computed net by net,
// without product states.
//
// The relaxation includes every run over all outcomes and interleavings. Suppose a run had a first
// event that it does not include. Each net admitted the call of that event in a state that the
// relaxation includes, so the relaxation includes the call; and it includes what the call holds in
// a net and the resulting states of that net. This is a contradiction. Hence a call that the
// relaxation never admits is never admitted.
type relaxation struct {
	*scope
	possible []bool // whether the call is possible, by call
	each     []*relaxed
}

// relaxed is what one net can reach.
type relaxed struct {
	*Net
	meanings []int // meanings of the possible calls
	states   []int
	holds    []int    // holdings of calls in flight
	killed   []uint64 // sets of watches that end together
	any      bool     // there are more states than the limit: assume that the net blocks nothing
}
