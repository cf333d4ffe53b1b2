package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	maxRounds = 8                // of input_required results without a question; clients stop at ten
	roundHold = 25 * time.Second // how long one such round lasts
)

// approve asks a person and decides again with the answer. It ends in forward or in an
// answer, and holds no lock and no token while the person thinks.
func (p *Pipeline) approve(c *Call, q *admission.Asked) {
	c.trace.asking(c)
	p.askPerson(c, q, nil)
}

// askPerson asks until a person has answered, and forwards the call where the answer
// allows it. Otherwise it answers the client. A call that is held goes on with its wait w at
// each event of it, on a new stack: a stack that has grown stays so for as long as it waits.
func (p *Pipeline) askPerson(c *Call, q *admission.Asked, w *personWait) {
	a, held := p.askUntilHeld(c, q, w)
	if held != nil {
		c.Spawn(func() {
			held.event = held.hold.Wait(held.shown.gone)
			p.askPerson(c, q, held)
		})
		return
	}
	c.trace.askedFor(admission.Result{Decision: "refuse"})
	if a != nil {
		c.answer(a)
	}
}

// askUntilHeld asks until the call is held for an answer, or is forwarded, or has the answer a
// for the client.
func (p *Pipeline) askUntilHeld(c *Call, q *admission.Asked, w *personWait) (a answer, held *personWait) {
	defer func() {
		if held == nil { // before the client knows, who may use the id again
			p.Admission.Withdraw(context.Background(), c.State.Key(), q)
		}
	}()
	if w != nil && p.staysHeld(c, w) {
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
		w = nil // Another call used this consent up. This one asks anew.
	}
}

// openRequest opens the request for the approval of a call. It returns the answer where
// nobody can be asked.
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

// A personWait is the wait of a call for the answer to a request.
type personWait struct {
	request *approval.Request
	hold    *asking.Hold // of the call; nil: the result is there at once
	event   asking.Event // of the hold, the last one
	told    int          // notifications of progress
	rounds  int          // of the call, so far
	shown   prompt
	state   approval.State // that the call goes on with
	parked  answer         // what the client is answered meanwhile; nil: the wait is over
}

// decideAgain goes on with a call after its wait for a person, and returns the answer for the
// client; nil: it was forwarded, or has its answer. It is over unless the call has to ask anew.
func (p *Pipeline) decideAgain(c *Call, q *admission.Asked, w *personWait) (a answer, over bool) {
	r := w.request
	p.Approvals.Release(r, w.parked != nil)
	switch {
	case w.parked != nil:
		p.RecordRefusal(c, waiting("waiting for a person", r))
		return w.parked, true
	case w.state == approval.Consumed: // before this call looked
		return nil, false
	case w.state != approval.Approved:
		said := p.Approvals.Status(r)
		said.State = w.state
		return p.denied(c, q, asking.NoConsent(c.Tool.Exposed, r, said, !c.wanted(), c.ctx.Err() != nil, p.Life.Now()), p.consent(r)), true
	case c.toolChanged():
		return p.denied(c, q, fmt.Sprintf("%s is not the tool any more that a person was asked about. Call it again to ask anew.", c.Tool.Exposed), nil), true
	}
	if a := p.unrecordable(c); a != nil { // the consent stays
		return a, true
	}
	if a := p.reserve(c); a != nil { // so it does
		return a, true
	}
	if a, used := p.redeem(c, q, r); used {
		return a, true
	}
	c.release()
	return nil, false
}

// toolChanged reports whether the server has redefined or removed the tool since a person
// was asked about it.
func (c *Call) toolChanged() bool {
	now := c.target()
	return now == nil || now.Canonical != c.Tool.Canonical || now.Definition != c.Tool.Definition
}

// redeem decides again with the consent, and uses it up if the call passes; a says why it
// does not. used is false where another call has used the consent.
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
		c.input = input{ours: c.input.ours} // nobody was shown what the client brought along
		p.Advertiser.Touch(c.State)
		c.trace.askedFor(admission.Result{Decision: "allow"})
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

// consent returns the answer to r for the record.
func (p *Pipeline) consent(r *approval.Request) *admission.Consent {
	said := p.Approvals.Status(r)
	return &admission.Consent{ID: r.ID, Channel: said.Channel, Actor: said.Actor}
}

// beginWait puts r to a person where it is pending, and says how long the call is held for
// the answer. Without a hold the result of the wait is there.
func (p *Pipeline) beginWait(c *Call, r *approval.Request) *personWait {
	w := &personWait{request: r, rounds: p.readResponse(c, r)}
	w.state = p.Approvals.Status(r).State
	if c.ctx.Err() != nil { // it asks for nothing any more, and uses up nothing
		w.state = approval.Withdrawn
	}
	if w.state != approval.Pending {
		return w
	}
	way := p.wayToClient(c, r)
	if way == "" && !r.WasOpened() && !r.AllowsBeside(approval.Elicit, approval.URL) {
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
	if c.Meta.ProgressToken != nil { // else nobody is told
		w.hold.Tell(r.Unasked())
	}
	return w
}

// endWait sets the result of a wait in which the call was held.
func (p *Pipeline) endWait(c *Call, w *personWait) {
	r := w.request
	w.state = p.Approvals.Status(r).State
	if w.shown.told != nil && (w.state != approval.Pending || c.ctx.Err() != nil) {
		<-w.shown.told // before the end of the call, with which the stream ends
	}
	switch {
	case c.ctx.Err() != nil:
		w.state = approval.Withdrawn
	case w.state != approval.Pending: // answered, or past its time
	case c.Peer.Rev.InputRequired && w.rounds < maxRounds:
		w.parked = inputRequired{state: p.Sealer.Seal(seal.Round{Approval: r.ID, Number: w.rounds + 1, Expires: r.Expires}, r.Key.Bytes())}
	default:
		w.parked = waiting(asking.Parked(r.ID), r)
	}
}

// tellOperators logs, once, that a call has begun to wait for a person.
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

// staysHeld does what an event of a hold wants, and reports whether the call is still held. It
// notifies the client of progress, and shows it the question again where that was gone.
func (p *Pipeline) staysHeld(c *Call, w *personWait) bool {
	note := "Waiting for a person: approval " + w.request.ID + "."
	switch w.event {
	case asking.Ended:
		p.endWait(c, w)
		return false
	case asking.Gone:
		w.shown = p.elicit(c, w.request, p.wayToClient(c, w.request))
		return true
	case asking.Unasked:
		note = "The client showed the question to nobody. An operator can still answer approval " + w.request.ID + "."
	}
	w.told++
	c.Stream.Send(asking.ProgressNote(c.Meta.ProgressToken, w.told, note))
	return true
}

// Resolve answers an approval for a person, and logs who answered it where.
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

// text returns the question for a person.
func (p *Pipeline) text(r *approval.Request) string {
	return p.Approvals.Look(r).Text(p.Where, p.Life.Now())
}

// waiting returns a refusal of a call while a person is asked.
func waiting(text string, r *approval.Request) refusal {
	return refusal{&admission.Refused{Text: text, Facts: admission.Facts{Decision: "ask", Kind: "approval", Approval: r.ID}}}
}

// denied refuses a call without consent. said is the answer of a person; nil: nobody
// answered.
func (p *Pipeline) denied(c *Call, q *admission.Asked, text string, said *admission.Consent) answer {
	return refusal{p.Admission.Deny(p.Life.Ctx, c.admission(), q.Ask, text, said)}
}

// approvalKey returns what an approval is good for.
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

// shownBeside returns what a person is shown besides the arguments.
func (c *Call) shownBeside() *rounds.Approved {
	members, meta := c.beside()
	if len(meta) > MaxKeptWhole {
		meta = nil
	}
	return &rounds.Approved{Beside: wire.Digest(members), Meta: meta}
}

// besideDigest returns the digest of the members besides the name and the arguments.
func (c *Call) besideDigest() string {
	members, _ := c.beside()
	return wire.Digest(members)
}

// beside returns what the server gets besides the name and the arguments. Clients may
// write another _meta into each call, so a consent does not depend on it; but it is shown,
// and what was shown is forwarded.
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
