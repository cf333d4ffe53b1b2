package explore

import "slices"

// A question is what a transition asks of approvers.
type question struct {
	net       int // index in the model
	approvals int
	via       string // required channel; empty: any
}

// questions returns what the net asks before a call that begins with the step b.
func (n *structure) questions(b *begun) (all []question) {
	for _, t := range b.asks {
		def := &n.Info.Transitions[t]
		all = append(all, question{n.Index, max(1, def.Approvals), def.Via})
	}
	return all
}

// includes reports whether an answer to q answers other as well.
func (q question) includes(other question) bool {
	return q.approvals >= other.approvals && (other.via == "" || q.via == other.via)
}

// asksMore reports whether the net asks a question that no other net asks as strictly. Otherwise,
// covering is another net that asks one of its questions, or -1.
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
