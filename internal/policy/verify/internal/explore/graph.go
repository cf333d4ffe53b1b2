package explore

import "github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"

// Exact is the whole graph with the counters as they are written.
func (m *Model) Exact(nets []int, o ViewOptions) *Space {
	return m.wholeFrom(nets, o, 0)
}

// GroupLimit is how many states of a group are looked at before simpler proofs
// are tried.
const GroupLimit = 2000

// Whole is the graph of everything that the nets can reach; nil if it is too
// large. Where counters are made smaller it is not the whole truth, but what
// can be reached from its states is.
func (m *Model) Whole(nets []int, o ViewOptions) *Space {
	return m.wholeFrom(nets, o, capSteps[:]...)
}

func (m *Model) wholeFrom(nets []int, o ViewOptions, caps ...int) *Space {
	for _, o.cap = range caps {
		v := m.view(nets, o)
		s := v.explore(&Query{Sole: -1, edges: true, Tag: o.Tag, Start: goOn}, v.bound(o))
		if !s.complete {
			return nil
		}
		if len(v.limits) == 0 || s.settled() {
			return s
		}
	}
	return nil
}

// AnyCall tags no call: the search is about all of them.
func AnyCall(*callclass.Class) uint8 { return 0 }

// goOn is the start of a query that no call meets.
func goOn(mon uint32, _ uint8, _ bool) (uint32, bool) { return mon, false }
