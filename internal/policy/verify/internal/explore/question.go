package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// A question is a transition's request for approval.
type question struct {
	net       int // index of the net in the model
	approvals int
	via       string // required approval channel; empty means any
}

// questions returns the approvals that n requires for the call described by b.
func (n *structure) questions(b *callStart) []question {
	return list.Map(b.asks, func(t int) question {
		def := &n.Info.Transitions[t]
		return question{n.Index, max(1, def.Approvals), def.Via}
	})
}

// includes reports whether every set of approvals that satisfies q also satisfies p.
func (q question) includes(p question) bool {
	return q.approvals >= p.approvals && (p.via == "" || q.via == p.via)
}

// asksMore reports whether the net requires an approval that no other net's approval includes. If
// it returns false, the second result is the index of a net whose approval includes the required
// one, or -1 if the net requires no approval.
func asksMore(net int, all []question) (more bool, covering int) {
	covering = -1
	for _, q := range all {
		if q.net != net {
			continue
		}
		at := slices.IndexFunc(all, func(other question) bool { return other.net != net && other.includes(q) })
		if at < 0 {
			return true, -1
		}
		covering = all[at].net
	}
	return false, covering
}
