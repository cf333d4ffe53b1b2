package hook

import (
	"context"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// ask asks a person to approve a call. If the person approves it, ask decides on the call again;
// otherwise, ask refuses the call. The call fires no transitions before the second decision. If the
// answer takes too long, ask refuses the call but leaves the request open. ask never answers the
// agent with a question, because some agents treat a question as permission.
func (g *Gate) ask(ctx context.Context, c *admission.Call, where []byte, q *admission.Asked) admission.Decision {
	defer g.Admission.Withdraw(context.WithoutCancel(g.Ctx), c.Key, q)
	for {
		d, over := g.askOnce(ctx, c, where, q)
		if over {
			return d
		}
		// Another call has used up the approval, so ask again.
	}
}

// askOnce opens one approval request and waits for the answer. Its second result is false if
// approval must be requested again.
func (g *Gate) askOnce(ctx context.Context, c *admission.Call, where []byte, q *admission.Asked) (d admission.Decision, over bool) {
	r, err := g.Approvals.Open(approvalKey(c, where, q), description(c, where, q), q.Ask)
	if err != nil {
		g.Log.Error("could not ask for approval", "tool", c.Canonical, "error", err)
		return g.deny(c, q, fmt.Sprintf("%s requires human approval, but %v.", c.Gate.Tool, err), nil), true
	}
	state := g.await(ctx, c, r)
	parked := state == approval.Pending
	g.Approvals.Release(r, parked)
	switch state {
	case approval.Pending:
		refused := &admission.Refused{Text: g.Texts.Parked(r.ID), Facts: admission.Facts{Decision: "ask", Kind: string(gate.KindApproval), Approval: r.ID}}
		g.Admission.Refused(g.Ctx, c, refused)
		return refused, true
	case approval.Consumed:
		return nil, false
	case approval.Approved:
		return g.redeem(c, q, r)
	default:
		answer := g.Approvals.Status(r)
		answer.State = state
		return g.deny(c, q, g.Texts.NoConsent(c.Gate.Tool, r, answer, ctx.Err() != nil, g.Ctx.Err() != nil, g.Now()), g.consent(r)), true
	}
}

// await waits for the answer to an approval request and returns the request's state.
func (g *Gate) await(ctx context.Context, c *admission.Call, r *approval.Request) approval.State {
	if state := g.Approvals.Status(r).State; state != approval.Pending {
		return state
	}
	if !r.AllowsBeside(channel.OfClient()...) { // the rules require an answer through the client, but an agent cannot show questions
		return approval.Withdrawn
	}
	g.Asked(r, c.Client)
	hold := min(Find(c.Client).hold, g.Hold(c.Client), r.Expires.Sub(g.Now()))
	select {
	case <-r.Answered():
	case <-time.After(hold):
	case <-g.Ctx.Done():
		return approval.Withdrawn
	case <-ctx.Done():
		return approval.Withdrawn
	}
	return g.Approvals.Status(r).State
}

// redeem decides on the call again after a person has approved it. If the call is admitted, the
// approval is used up. The second result is false if the approval has become invalid, so that it
// must be requested again.
func (g *Gate) redeem(c *admission.Call, q *admission.Asked, r *approval.Request) (d admission.Decision, over bool) {
	if refused := g.Admission.Ready(c.Canonical); refused != nil { // do not use up the approval if the decision cannot be recorded now
		return refused, true
	}
	d, err := g.Admission.Redeem(g.Ctx, c, q, *g.consent(r))
	if err != nil {
		g.Approvals.Used(r, false)
		return nil, false
	}
	switch more := d.(type) {
	case *admission.Admitted:
		g.Approvals.Used(r, true)
	case *admission.Asked:
		g.Admission.Withdraw(g.Ctx, c.Key, more)
		d = g.deny(c, more, fmt.Sprintf("The state changed while a person was being asked: %s now needs more approvals.", c.Gate.Tool), nil)
	}
	return d, true
}

func (g *Gate) deny(c *admission.Call, q *admission.Asked, text string, consent *admission.Consent) *admission.Refused {
	return g.Admission.Deny(g.Ctx, c, q.Ask, text, consent)
}

// consent returns the person's answer to the request r as an [admission.Consent].
func (g *Gate) consent(r *approval.Request) *admission.Consent {
	answer := g.Approvals.Status(r)
	return &admission.Consent{ID: r.ID, Channel: answer.Channel, Actor: answer.Actor}
}

// approvalKey returns the key of a call's approval. It includes the agent's folders, because they
// determine what a script does.
func approvalKey(c *admission.Call, where []byte, q *admission.Asked) approval.Key {
	steps := ""
	for _, s := range q.Steps {
		steps += s.Net + "\x00" + s.Transition + "\x00"
	}
	arguments := audit.HashOf(rawjson.Omit(c.Gate.Args, q.Generation.Policy.Ignored(&c.Gate)))
	return approval.Key{Session: c.Session, Tool: c.Canonical, Arguments: arguments, Beside: audit.HashOf(where), Policy: q.Generation.Fingerprint, Steps: audit.HashOf(steps)}
}

// description returns the description of the call that is shown to a person.
func description(c *admission.Call, where []byte, q *admission.Asked) approval.Call {
	return approval.Call{
		Own: true, Upstream: c.Upstream, Tool: c.Tool, Arguments: c.Gate.Args, Size: len(c.Gate.Args), SHA256: c.Digest, Beside: where,
		Session: c.Session, Client: c.Client, Principal: c.Principal, Ignored: q.Generation.Policy.Ignored(&c.Gate),
	}
}
