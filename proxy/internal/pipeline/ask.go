package pipeline

import (
	"context"
	"fmt"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/proxy/internal/asking"
)

// approve asks a person and decides again with the answer. It ends in forward or in an answer, and
// holds no lock and no token while the person thinks.
func (p *Pipeline) approve(c *Call, q *admission.Asked) {
	c.trace.beginApproval(c)
	p.askPerson(c, q, nil)
}

// askPerson asks until a person has answered. It forwards the call if the answer allows it, and
// otherwise answers the client. w is the wait that the call resumes; nil: the call has not waited
// yet. While a call waits, each event of its wait is handled on a fresh stack, because a stack that
// has grown keeps its size for as long as its goroutine waits.
func (p *Pipeline) askPerson(c *Call, q *admission.Asked, w *personWait) {
	a, held := p.askUntilHeld(c, q, w)
	if held != nil {
		c.Spawn(func() {
			held.event = held.hold.Wait(held.shown.callGone)
			p.askPerson(c, q, held)
		})
		return
	}
	c.trace.endApproval(admission.Result{Decision: "refuse"})
	if a != nil {
		c.answer(a)
	}
}

// askUntilHeld asks until the call has to wait for an answer (it returns held), is refused (it
// returns a), or is forwarded (it returns neither).
func (p *Pipeline) askUntilHeld(c *Call, q *admission.Asked, w *personWait) (a answer, held *personWait) {
	defer func() {
		if held == nil { // before the client gets the answer and can use the id again
			p.Admission.Withdraw(context.Background(), c.State.Key(), q)
		}
	}()
	if w != nil && p.stillHeld(c, w) {
		return nil, w
	}
	for {
		if w == nil {
			r, a := p.openRequest(c, q)
			if a != nil {
				return a, nil
			}
			if w = p.beginWait(c, r); w.hold != nil {
				return nil, w
			}
		}
		if a, over := p.decideAgain(c, q, w); over {
			return a, nil
		}
		w = nil // another call has used up this consent: ask anew
	}
}

// decideAgain continues a call after its wait for a person. It returns the answer to the client, or
// nil if the call was forwarded or is answered already. over is false if the call has to ask anew.
func (p *Pipeline) decideAgain(c *Call, q *admission.Asked, w *personWait) (a answer, over bool) {
	r := w.request
	p.Approvals.Release(r, w.parked != nil)
	switch {
	case w.parked != nil:
		p.RecordRefusal(c, waiting("waiting for a person", r))
		return w.parked, true
	case w.state == approval.Consumed: // by another call, before this one looked
		return nil, false
	case w.state != approval.Approved:
		said := p.Approvals.Status(r)
		said.State = w.state
		return p.denied(c, q, asking.NoConsent(c.Tool.Exposed, r, said, !c.wanted(), c.ctx.Err() != nil, p.Life.Now()), p.consent(r)), true
	case c.toolChanged():
		return p.denied(c, q, fmt.Sprintf("%s is not the tool any more that a person was asked about. Call it again to ask anew.", c.Tool.Exposed), nil), true
	}
	if a := p.unrecordable(c); a != nil { // the consent stays valid
		return a, true
	}
	if a := p.reserve(c); a != nil { // here too
		return a, true
	}
	if a, used := p.redeem(c, q, r); used {
		return a, true
	}
	c.release(slot | taskSlot)
	return nil, false
}

// toolChanged reports whether the server has redefined or removed the tool since a person was asked
// about it.
func (c *Call) toolChanged() bool {
	now := c.target()
	return now == nil || now.Canonical != c.Tool.Canonical || now.Definition != c.Tool.Definition
}

// redeem decides again with the consent of r, and uses the consent up if the call is admitted. It
// returns the answer to a call that needs another consent now. used is false if another call has
// used the consent.
func (p *Pipeline) redeem(c *Call, q *admission.Asked, r *approval.Request) (a answer, used bool) {
	shown := p.Approvals.Look(r)
	if shown.Answer.State != approval.Approved {
		return nil, false
	}
	own := c.params
	c.params = c.params.WithMetaShown(shown.Call.Meta)
	d, err := p.Admission.Redeem(c.trace.context(p.Life.Ctx), c.admission(), q, *p.consent(r))
	if err != nil {
		c.params = own
		p.Approvals.Used(r, false)
		return nil, false
	}
	switch d := d.(type) {
	case *admission.Admitted:
		p.Approvals.Used(r, true)
		c.approved = c.shownBeside()
		c.input = input{ours: c.input.ours} // no person has seen the input that the client sent along
		p.Advertiser.Touch(c.State)
		c.trace.endApproval(admission.Result{Decision: "allow"})
		p.forward(c, d.Pass())
	case *admission.Refused:
		c.release(slot | taskSlot)
		c.refuse(d)
	case *admission.Asked:
		c.release(slot | taskSlot)
		p.Admission.Withdraw(p.Life.Ctx, c.State.Key(), d)
		a = p.denied(c, d, fmt.Sprintf("The state changed while a person was asked: %s now asks for more.", c.Tool.Exposed), nil)
	}
	return a, true
}

// beginApproval tells the observer that a person is asked about c.
func (t *callTrace) beginApproval(c *Call) {
	if t != nil {
		_, t.approvalEnd = c.pipeline.Admission.Watch().Approving(t.ctx, c.admission())
	}
}
