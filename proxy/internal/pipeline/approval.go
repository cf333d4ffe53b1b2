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
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// An askedCall is a call that needs a person's approval. It exists until the call is forwarded or
// answered.
type askedCall struct {
	*Pipeline
	call  *Call
	asked *admission.Asked
}

// Resolve records a person's answer to an approval request. It logs who answered, and through which
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

// openRequest opens an approval request for the call, or joins the request that is already open. If
// no person can be asked, it returns the answer to the call.
func (q *askedCall) openRequest() (*approval.Request, answer) {
	key := q.key()
	r, err := q.Approvals.Open(key, q.shown(), q.asked.Ask)
	if errors.Is(err, approval.ErrStore) {
		q.Life.Log.Error("could not ask for approval", "tool", q.call.Tool.Canonical, "error", err)
		err = approval.ErrStore
	}
	if err != nil {
		return nil, q.denied(fmt.Sprintf("%s requires human approval, but %v.", q.call.Tool.Exposed, err), nil)
	}
	return r, nil
}

// consent returns the person's answer to r in the form that is used in records.
func (p *Pipeline) consent(r *approval.Request) *admission.Consent {
	said := p.Approvals.Status(r)
	return &admission.Consent{ID: r.ID, Channel: said.Channel, Actor: said.Actor}
}

// TellOperators logs that a call of the client with the given name is waiting for a person. It logs
// this only once for each request.
func (p *Pipeline) TellOperators(r *approval.Request, client string) {
	if !p.Approvals.Announce(r) {
		return
	}
	asked := p.Approvals.Look(r)
	p.Life.Log.Info(asking.WaitingLogLine(asked.Call, r.ID, client, asking.HowToAnswer(r, p.Approval.Verb)), logkind.Approval)
	if p.Approval.Asked != nil {
		p.Approval.Asked(asked)
	}
}

// text returns the question as people see it.
func (p *Pipeline) text(r *approval.Request) string {
	return p.Approvals.Look(r).Text(p.Where, p.Life.Now())
}

// waiting returns the refusal for a call that is still waiting for a person.
func waiting(text string, r *approval.Request) refusal {
	return refusal{&admission.Refused{Text: text, Facts: admission.Facts{Decision: "ask", Kind: "approval", Approval: r.ID}}}
}

// denied refuses a call without consent. said is the person's answer, or nil if no person has
// answered.
func (q *askedCall) denied(text string, said *admission.Consent) answer {
	return refusal{q.Admission.Deny(q.Life.Ctx, q.call.admission(), q.asked.Ask, text, said)}
}

// key returns the approval key of this call. An approval is valid for all calls with the same key.
func (q *askedCall) key() approval.Key {
	steps := ""
	for _, s := range q.asked.Steps {
		steps += s.Net + "\x00" + s.Transition + "\x00"
	}
	arguments := rawjson.Without(q.call.params.Arguments, q.asked.Generation.Policy.Ignored(&q.call.admitting.Gate))
	return approval.Key{
		Session: q.call.State.ID, Tool: q.call.Tool.Canonical, Definition: q.call.Tool.Definition,
		Arguments: wire.Digest(arguments), Beside: q.call.besideDigest(), Policy: q.asked.Generation.Fingerprint, Steps: wire.Digest([]byte(steps)),
	}
}

// shown returns the call in the form displayed to people.
func (q *askedCall) shown() approval.Call {
	client := q.call.Peer.Name
	if q.call.Peer.Version != "" {
		client += " " + q.call.Peer.Version
	}
	beside, meta := q.call.beside()
	return approval.Call{
		Upstream: q.call.Tool.Upstream.Config.Name, Tool: q.call.Tool.Name,
		Arguments: q.call.params.Arguments, Size: len(q.call.params.Arguments), SHA256: wire.Digest(q.call.params.Arguments), Beside: beside, Meta: meta,
		Session: q.call.State.ID, Client: client, Principal: q.call.Client.Principal,
		Ignored: q.asked.Generation.Policy.Ignored(&q.call.admitting.Gate),
	}
}

// shownBeside returns the members that are displayed to people in addition to the arguments.
func (q *askedCall) shownBeside() *rounds.Approved {
	members, meta := q.call.beside()
	if len(meta) > MaxKeptWhole {
		meta = nil
	}
	return &rounds.Approved{Beside: wire.Digest(members), Meta: meta}
}
