package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/asking"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

const (
	maxRounds = 8                // limit of input_required results without a question in one call; clients give up at ten
	roundHold = 25 * time.Second // duration of one such round
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

// A personWait is the wait of one call for the answer to an approval request.
type personWait struct {
	request  *approval.Request
	hold     *asking.Hold // wait of the call; nil: the result is known already
	event    asking.Event // last event of hold
	progress int          // number of progress notifications sent
	rounds   int          // rounds of the call so far
	shown    prompt
	state    approval.State // state of the request when the wait ended
	parked   answer         // answer to a client that has to call again for the result; nil: the wait is over
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
	c.release()
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
	c.params = c.params.AsShown(shown.Call.Meta)
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
		c.release()
		c.refuse(d)
	case *admission.Asked:
		c.release()
		p.Admission.Withdraw(p.Life.Ctx, c.State.Key(), d)
		a = p.denied(c, d, fmt.Sprintf("The state changed while a person was asked: %s now asks for more.", c.Tool.Exposed), nil)
	}
	return a, true
}

// consent returns the answer to r in the form that is recorded.
func (p *Pipeline) consent(r *approval.Request) *admission.Consent {
	said := p.Approvals.Status(r)
	return &admission.Consent{ID: r.ID, Channel: said.Channel, Actor: said.Actor}
}

// beginWait asks a person if r is pending, and sets how long the call waits for the answer. Without
// a hold, the result of the wait is known already.
func (p *Pipeline) beginWait(c *Call, r *approval.Request) *personWait {
	w := &personWait{request: r, rounds: p.readResponse(c, r)}
	w.state = p.Approvals.Status(r).State
	if c.ctx.Err() != nil { // a cancelled call asks for nothing and uses up no consent
		w.state = approval.Withdrawn
	}
	if w.state != approval.Pending {
		return w
	}
	way := p.elicitChannel(c, r)
	if way == "" && !r.WasOpened() && !r.AllowsBeside(channel.OfClient()...) {
		w.state = approval.Withdrawn
		return w
	}
	p.tellOperators(c, r)
	if way != "" && c.Peer.Rev.InputRequired {
		w.parked = p.elicitByResult(r, way)
		return w
	}
	hold := min(p.Approval.Hold(c.Peer.Name), r.Expires.Sub(p.Life.Now()))
	if c.Peer.Rev.InputRequired {
		hold = min(hold, roundHold)
	} else {
		w.shown = p.elicit(c, r, way)
	}
	w.hold = asking.NewHold(hold, r.Answered(), c.ctx.Done())
	if c.Meta.ProgressToken != nil { // without a token the client gets no notifications
		w.hold.Tell(r.Unasked())
	}
	return w
}

// endWait sets the result of a wait after its hold has ended.
func (p *Pipeline) endWait(c *Call, w *personWait) {
	r := w.request
	w.state = p.Approvals.Status(r).State
	if w.shown.ended != nil && (w.state != approval.Pending || c.ctx.Err() != nil) {
		<-w.shown.ended // before the call ends, because its stream ends with it
	}
	switch {
	case c.ctx.Err() != nil:
		w.state = approval.Withdrawn
	case w.state != approval.Pending: // answered or expired
	case c.Peer.Rev.InputRequired && w.rounds < maxRounds:
		w.parked = inputRequired{state: p.Sealer.Seal(seal.Round{Approval: r.ID, Number: w.rounds + 1, Expires: r.Expires}, r.Key.Bytes())}
	default:
		w.parked = waiting(asking.Parked(r.ID), r)
	}
}

// tellOperators logs, once per request, that a call waits for a person.
func (p *Pipeline) tellOperators(c *Call, r *approval.Request) {
	if !p.Approvals.Announce(r) {
		return
	}
	asked := p.Approvals.Look(r)
	p.Life.Log.Info(asking.Wanted(asked.Call, r.ID, c.Peer.Name, asking.How(r, p.Approval.Verb)), logkind.Approval)
	if p.Approval.Asked != nil {
		p.Approval.Asked(asked)
	}
}

// stillHeld handles an event of a hold and reports whether the call still waits. It sends the
// client a progress notification, and shows the question again if the call that showed it has gone.
func (p *Pipeline) stillHeld(c *Call, w *personWait) bool {
	note := "Waiting for a person: approval " + w.request.ID + "."
	switch w.event {
	case asking.Ended:
		p.endWait(c, w)
		return false
	case asking.Gone:
		w.shown = p.elicit(c, w.request, p.elicitChannel(c, w.request))
		return true
	case asking.Unasked:
		note = "The client showed the question to nobody. An operator can still answer approval " + w.request.ID + "."
	}
	w.progress++
	c.Stream.Send(asking.ProgressNote(c.Meta.ProgressToken, w.progress, note))
	return true
}

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
		return c.params.Beside("uri")
	}
	return c.params.Beside("name", "arguments")
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
