package gate

import (
	"cmp"

	"github.com/petrigate/petrigate/gate/internal/naming"
)

// A Prepared call has its names, which do not depend on the state and can thus be computed before a
// state is locked. It must not be used by several goroutines at once.
type Prepared struct {
	// Offered are the tools that can be called; if not nil, they replace [State.Tools], see
	// [Session.Offer].
	Offered []Call

	judgement judgement
}

// Prepare computes the names of c. The arguments of c must not change while the call is open.
func (p *Policy) Prepare(c Call) *Prepared {
	q := &preparedCall{call: c}
	q.name(p, &q.call)
	return &q.Prepared
}

// Reset reuses q for the call c under the policy p; see [Policy.Prepare]. The call must not change
// while q is in use.
func (q *Prepared) Reset(p *Policy, c *Call) {
	q.clear()
	q.name(p, c)
}

// preparedCall is a prepared call together with the call itself.
type preparedCall struct {
	Prepared
	call Call
}

// name prepares the call c under the policy p; q must be clear.
func (q *Prepared) name(p *Policy, c *Call) {
	q.judgement.policy, q.judgement.call = p, c
	q.judgement.name()
}

// maxSpare limits the number of findings whose memory is reused.
const maxSpare = 64

// clear resets q, and keeps its memory for the next call.
func (q *Prepared) clear() {
	keyed := cmp.Or(q.judgement.keyed, q.judgement.spare)
	findings := q.judgement.findings
	*q = Prepared{}
	if n := cap(findings); n > len(q.judgement.findingRoom) && n <= maxSpare {
		q.judgement.findings = findings[:0]
		clear(findings[:n])
	}
	if keyed != nil {
		keyed.clear()
		q.judgement.spare = keyed
	}
}

// name computes the labels of the call, which do not depend on the state.
func (j *judgement) name() {
	j.tools = naming.Physical(j.call, j.toolRoom[:0])
	j.row = j.policy.Row(j.call)
	if j.withoutMaps {
		j.labels = naming.WithPatterns(append(j.labelRoom[:0], j.tools...), j.policy.names.Patterns())
	} else {
		j.labels = j.policy.names.Labels(j.call, j.tools, j.labelRoom[:0])
	}
	j.set = j.policy.index.Find(j.labels, j.setRoom[:])
	j.plan()
}
