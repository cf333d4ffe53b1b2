package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/approval"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/asking"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

const (
	maxRounds     = 8                // of input_required results without a question; clients stop at ten
	roundHold     = 25 * time.Second // how long one such round lasts
	progressEvery = 5 * time.Second  // how often progress is notified while a person thinks
)

// approve asks a person and decides again with the answer. It ends in forward or in an
// answer, and holds no lock and no token while the person thinks.
func (p *Pipeline) approve(c *Call, q *admission.Asked) {
	c.trace.asking(c)
	a := p.askPerson(c, q)
	c.trace.askedFor(admission.Result{Decision: "refuse"})
	if a != nil {
		c.answer(a)
	}
}

// askPerson asks until a person has answered, and forwards the call where the answer
// allows it. Otherwise it returns the answer for the client. It waits with a small stack.
func (p *Pipeline) askPerson(c *Call, q *admission.Asked) answer {
	defer p.Admission.Withdraw(context.Background(), c.State.Key(), q) // before the client knows, who may use the id again
	for {
		r, a := p.openRequest(c, q)
		if a != nil {
			return a
		}
		w := p.beginWait(c, r)
		if w.held {
			p.holdCall(c, w)
			p.endWait(c, w)
		}
		if a, over := p.decideAgain(c, q, w); over {
			return a
		}
		// Another call used this consent up. This one asks anew.
	}
}

// openRequest opens the request for the approval of a call. It returns the answer where
// nobody can be asked.
func (p *Pipeline) openRequest(c *Call, q *admission.Asked) (*approval.Request, answer) {
	r, err := p.Approvals.Open(c.approvalKey(q), c.shown(), q.Ask)
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
	held    bool          // the call is held; else the result is there at once
	hold    time.Duration // for so long
	rounds  int           // of the call, so far
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
		p.forward(c, &d.Ticket)
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
	w.held, w.hold = true, min(p.Approval.Hold(c.Peer.Name), r.Expires.Sub(p.Life.Now()))
	if c.Peer.Rev.InputRequired {
		w.hold = min(w.hold, roundHold)
	} else {
		w.shown = p.elicit(c, r, way)
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
	how := "at the client"
	switch {
	case r.Via == approval.Webhook:
		how = "by the webhook"
	case r.AllowsBeside(approval.Elicit, approval.URL):
		how = p.Approval.Verb
	}
	asked := p.Approvals.Look(r)
	p.Life.Log.Info(asking.Wanted(asked.Call, r.ID, c.Peer.Name, how), logkind.Approval)
	if p.Approval.Asked != nil {
		p.Approval.Asked(asked)
	}
}

// holdCall waits for the answer to a request, and notifies the client of progress. If another
// call showed the question to the client and has ended, this one shows it again.
func (p *Pipeline) holdCall(c *Call, w *personWait) {
	timer := time.NewTimer(w.hold)
	defer timer.Stop()
	r := w.request
	var unasked <-chan struct{}
	var ticks <-chan time.Time
	if c.Meta.ProgressToken != nil { // else nobody is told
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		ticks, unasked = tick.C, r.Unasked()
	}
	for n := 1; ; {
		select {
		case <-r.Answered():
			return
		case <-timer.C:
			return
		case <-c.ctx.Done():
			return
		case <-w.shown.gone:
			w.shown = p.elicit(c, r, p.wayToClient(c, r))
		case <-unasked:
			unasked = nil
			c.sendProgress(n, "The client showed the question to nobody. An operator can still answer approval "+r.ID+".")
			n++
		case <-ticks:
			c.sendProgress(n, "Waiting for a person: approval "+r.ID+".")
			n++
		}
	}
}

// sendProgress sends notifications/progress, if the client has asked for it.
func (c *Call) sendProgress(n int, message string) {
	if c.Meta.ProgressToken == nil {
		return
	}
	c.Stream.Send(asking.Progress(c.Meta.ProgressToken, n, message))
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
	return approval.Key{
		Session: c.State.ID, Tool: c.Tool.Canonical, Definition: c.Tool.Definition,
		Arguments: wire.Digest(c.params.Arguments), Beside: c.besideDigest(), Policy: q.Generation.Fingerprint, Steps: wire.Digest([]byte(steps)),
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
func (c *Call) shown() approval.Call {
	client := c.Peer.Name
	if c.Peer.Version != "" {
		client += " " + c.Peer.Version
	}
	beside, meta := c.beside()
	return approval.Call{
		Upstream: c.Tool.Upstream.Config.Name, Tool: c.Tool.Name,
		Arguments: c.params.Arguments, Size: len(c.params.Arguments), SHA256: wire.Digest(c.params.Arguments), Beside: beside, Meta: meta,
		Session: c.State.ID, Client: client, Principal: c.Client.Principal,
	}
}
