package pipeline

import (
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/asking"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Resolve answers an approval on behalf of a person, and logs who answered it through which
// channel.
func (p *Pipeline) Resolve(person, id string, approve bool, channel, actor, reason string) error {
	err := p.Approvals.AnswerAs(person, id, approve, channel, actor, reason)
	if rejected, ok := errors.AsType[*approval.RejectedError](err); ok {
		return errors.Join(rejected, p.Admission.NoteAnswer(p.Life.Ctx, rejected.Rejection, rejected.Record))
	}
	if err != nil {
		return err
	}
	found, _ := p.Approvals.Find(id)
	p.Life.Log.Info(asking.Answered(found, approve, channel, actor), logkind.Approval, "reason", text.Escape(found.Answer.Reason))
	if p.Approval.Answered != nil {
		p.Approval.Answered(found)
	}
	return nil
}

// openRequest opens the approval request of a call, or joins the one that is open. If no person can
// be asked, it returns the answer to the call.
func (p *Pipeline) openRequest(c *Call, q *admission.Asked) (*approval.Request, answer) {
	key := c.approvalKey(q)
	r, err := p.Approvals.Open(key, c.shown(q), q.Ask)
	if errors.Is(err, approval.ErrStore) {
		p.Life.Log.Error("nobody is asked", "tool", c.Tool.Canonical, "error", err)
		err = approval.ErrStore
	}
	if err != nil {
		return nil, p.denied(c, q, fmt.Sprintf("%s requires human approval, and %v.", c.Tool.Exposed, err), nil)
	}
	return r, nil
}

// consent returns the answer to r in the form that is recorded.
func (p *Pipeline) consent(r *approval.Request) *admission.Consent {
	said := p.Approvals.Status(r)
	return &admission.Consent{ID: r.ID, Channel: said.Channel, Actor: said.Actor}
}

// tellOperators logs, once per request, that a call waits for a person.
func (p *Pipeline) tellOperators(c *Call, r *approval.Request) {
	if !p.Approvals.Announce(r) {
		return
	}
	asked := p.Approvals.Look(r)
	p.Life.Log.Info(asking.WaitingLogLine(asked.Call, r.ID, c.Peer.Name, asking.HowToAnswer(r, p.Approval.Verb)), logkind.Approval)
	if p.Approval.Asked != nil {
		p.Approval.Asked(asked)
	}
}

// text returns the question as a person reads it.
func (p *Pipeline) text(r *approval.Request) string {
	return p.Approvals.Look(r).Text(p.Where, p.Life.Now())
}

// waiting returns the refusal of a call that still waits for a person.
func waiting(text string, r *approval.Request) refusal {
	return refusal{&admission.Refused{Text: text, Facts: admission.Facts{Decision: "ask", Kind: "approval", Approval: r.ID}}}
}

// denied refuses a call that has no consent. said is the answer of a person; nil: no person
// answered.
func (p *Pipeline) denied(c *Call, q *admission.Asked, text string, said *admission.Consent) answer {
	return refusal{p.Admission.Deny(p.Life.Ctx, c.admission(), q.Ask, text, said)}
}

// approvalKey returns the key of the approval for this call: an approval is valid for calls with an
// equal key.
func (c *Call) approvalKey(q *admission.Asked) approval.Key {
	steps := ""
	for _, s := range q.Steps {
		steps += s.Net + "\x00" + s.Transition + "\x00"
	}
	arguments := rawjson.Without(c.params.Arguments, q.Generation.Policy.Ignored(&c.admitting.Gate))
	return approval.Key{
		Session: c.State.ID, Tool: c.Tool.Canonical, Definition: c.Tool.Definition,
		Arguments: wire.Digest(arguments), Beside: c.besideDigest(), Policy: q.Generation.Fingerprint, Steps: wire.Digest([]byte(steps)),
	}
}

// shown returns the call as a person sees it.
func (c *Call) shown(q *admission.Asked) approval.Call {
	client := c.Peer.Name
	if c.Peer.Version != "" {
		client += " " + c.Peer.Version
	}
	beside, meta := c.beside()
	return approval.Call{
		Upstream: c.Tool.Upstream.Config.Name, Tool: c.Tool.Name,
		Arguments: c.params.Arguments, Size: len(c.params.Arguments), SHA256: wire.Digest(c.params.Arguments), Beside: beside, Meta: meta,
		Session: c.State.ID, Client: client, Principal: c.Client.Principal,
		Ignored: q.Generation.Policy.Ignored(&c.admitting.Gate),
	}
}

// shownBeside returns the members that a person sees besides the arguments.
func (c *Call) shownBeside() *rounds.Approved {
	members, meta := c.beside()
	if len(meta) > MaxKeptWhole {
		meta = nil
	}
	return &rounds.Approved{Beside: wire.Digest(members), Meta: meta}
}

// besideDigest returns the digest of the params without the name, the arguments and _meta.
func (c *Call) besideDigest() string {
	members, _ := c.beside()
	return wire.Digest(members)
}

// beside returns the params that the server gets besides the name and the arguments. Clients can
// write another _meta into each call, so a consent does not depend on it. A person sees it, though,
// and the _meta that the person saw is forwarded.
func (c *Call) beside() (members, meta []byte) {
	if c.Method == spec.ReadResource {
		return c.params.OtherParams("uri")
	}
	return c.params.OtherParams("name", "arguments")
}
