package verify

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// Policy analyzes the policy p and returns its findings. It proves the assertions first, because
// time may run out.
func Policy(p *gate.Policy, o Options) *Report {
	m := newProver(p, &o)
	r := &Report{Proofs: m.proveAll(o.Prove)}
	r.Overlaps, r.MoreOverlaps = callclass.Overlaps(p, m.Stop)
	r.Names = list.Map(listedNames(p), m.decideCallable)
	for _, g := range m.groups() {
		group := m.exploreGroup(g)
		r.States += group.States
		r.Groups = append(r.Groups, group)
	}
	m.addLosses(r, o)
	found, untried := m.RedundantNets()
	for _, x := range found {
		r.Redundant = append(r.Redundant, Redundant{m.net(x.Net), m.named(x.Because)})
	}
	for _, x := range untried {
		q := r.openQuestion(TopicRedundant, x.Why)
		q.Nets = append(q.Nets, m.net(x.Net))
	}
	r.askOpen()
	r.Visited = m.States
	r.Gaps = m.Calls.AllGaps()
	return r
}
