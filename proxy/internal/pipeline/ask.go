package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/proxy/internal/asking"
	"github.com/petrigate/petrigate/proxy/internal/seal"
)

// ask waits for a person's answer, and then forwards the call, refuses it, or tells the client to
// call again. If w is nil, the call has not waited yet. Otherwise, w is the state of a wait that
// was interrupted by an event. During a wait, ask holds no locks, and the call has taken no tokens
// from the nets. Each wait runs in a function passed to [Call.Spawn], so that the waiting goroutine
// needs little stack memory.
func (q *askedCall) ask(w *personWait) {
	a, held := q.continueUntilWait(w)
	if held != nil {
		q.call.Spawn(func() {
			held.event = held.hold.Wait(held.shown.callGone)
			q.ask(held)
		})
		return
	}
	q.call.trace.endApproval(admission.Result{Decision: "refuse"})
	if a != nil {
		q.call.answer(a)
	}
}

// continueUntilWait continues the call until it must wait for a person's answer, and returns the
// state of that wait. If the call does not have to wait, it returns the response for the client
// instead. Both results are nil if the call has been forwarded or has already ended.
func (q *askedCall) continueUntilWait(w *personWait) (a answer, held *personWait) {
	defer func() {
		if held == nil { // a client that has received the response may reuse the call's ID, so withdraw the call first
			q.Admission.Withdraw(context.Background(), q.call.State.Key(), q.asked)
		}
	}()
	if w != nil && q.handleEvent(w) {
		return nil, w
	}
	for {
		if w == nil {
			r, a := q.openRequest()
			if a != nil {
				return a, nil
			}
			if w = q.beginWait(r); w.hold != nil {
				return nil, w
			}
		}
		if a, done := q.decideAgain(w); done {
			return a, nil
		}
		w = nil // another call has used up this approval, so a person must be asked again
	}
}

// decideAgain decides again on a call that has waited for a person's answer. It returns the
// response for the client, or nil if the call has been forwarded or has already ended. If done is
// false, a person must be asked again.
func (q *askedCall) decideAgain(w *personWait) (a answer, done bool) {
	r := w.request
	q.Approvals.Release(r, w.parked != nil)
	switch {
	case w.parked != nil:
		q.RecordRefusal(q.call, waitingRefusal("waiting for a person", r))
		return w.parked, true
	case w.state == approval.Consumed: // another call has used the approval
		return nil, false
	case w.state != approval.Approved:
		said := q.Approvals.Status(r)
		said.State = w.state
		return q.refuseDenied(asking.NoConsentText(q.call.Tool.Exposed, r, said, !q.call.isWanted(), q.call.ctx.Err() != nil, q.Life.Now()), q.consent(r)), true
	case q.toolChanged():
		return q.refuseDenied(fmt.Sprintf("%s has changed since a person was asked about it. Call it again to ask again.", q.call.Tool.Exposed), nil), true
	}
	if a := q.checkRecordable(q.call); a != nil { // the approval has not been used, so a later call can still use it
		return a, true
	}
	if a := q.reserve(q.call); a != nil {
		return a, true
	}
	if a, used := q.redeem(r); used {
		return a, true
	}
	q.call.release(slot | taskSlot)
	return nil, false
}

// toolChanged reports whether the server has redefined or removed the tool since the person was
// asked about it.
func (q *askedCall) toolChanged() bool {
	now := q.call.target()
	return now == nil || now.Canonical != q.call.Tool.Canonical || now.Definition != q.call.Tool.Definition
}

// redeem uses the approval of the request r and asks the gate to decide again. If the gate admits
// the call, redeem marks the approval as used and forwards the call. If the gate refuses the call,
// redeem sends the refusal to the client. If the gate now requires a different approval, redeem
// returns a refusal as the response for the client. The second result is false if the approval can
// no longer be used, for example because another call has already used it.
func (q *askedCall) redeem(r *approval.Request) (a answer, used bool) {
	shown := q.Approvals.Look(r)
	if shown.Answer.State != approval.Approved {
		return nil, false
	}
	own := q.call.params
	q.call.params = q.call.params.WithMetaShown(shown.Call.Meta)
	d, err := q.Admission.Redeem(q.call.trace.context(q.Life.Ctx), q.call.admission(), q.asked, *q.consent(r))
	if err != nil {
		q.call.params = own
		q.Approvals.Used(r, false)
		return nil, false
	}
	switch d := d.(type) {
	case *admission.Admitted:
		q.Approvals.Used(r, true)
		q.call.approved = q.approvedParams()
		q.call.input = input{ours: q.call.input.ours} // discard the client's inputResponses and requestState, because no person has reviewed them
		q.Advertiser.Touch(q.call.State)
		q.call.trace.endApproval(admission.Result{Decision: "allow"})
		q.forward(q.call, d.Pass)
	case *admission.Refused:
		q.call.release(slot | taskSlot)
		q.call.refuse(d)
	case *admission.Asked:
		q.call.release(slot | taskSlot)
		q.Admission.Withdraw(q.Life.Ctx, q.call.State.Key(), d)
		other := askedCall{q.Pipeline, q.call, d}
		a = other.refuseDenied(fmt.Sprintf("The state changed while a person was being asked: %s now needs more approvals.", q.call.Tool.Exposed), nil)
	}
	return a, true
}

// A personWait is the state of a call that waits for the answer to an approval request.
type personWait struct {
	request  *approval.Request
	hold     *asking.Hold // nil if the call need not wait
	event    asking.Event // last event returned by hold
	progress int          // number of progress notifications sent
	rounds   int          // number of input_required results without a question so far
	shown    prompt
	state    approval.State // state of the approval request when the wait ended
	parked   answer         // response that asks the client to call again; nil if the result of the wait is final
}

const (
	maxRounds = 8                // maximum number of input_required results without a question per call; clients give up after ten
	roundHold = 25 * time.Second // maximum time before the call returns an input_required result without a question
)

// beginWait starts the call's wait for the answer to the request r. If r is pending and the call
// has not been canceled, it asks a person and sets the length of the wait. The call does not wait
// if the outcome is known, the call was canceled, no person can be asked, or the client must call
// again with the answer.
func (q *askedCall) beginWait(r *approval.Request) *personWait {
	w := &personWait{request: r, rounds: q.readResponse(r)}
	w.state = q.Approvals.Status(r).State
	if q.call.ctx.Err() != nil { // a canceled call neither asks a person nor uses up an approval
		w.state = approval.Withdrawn
	}
	if w.state != approval.Pending {
		return w
	}
	way := q.elicitChannel(r)
	if way == "" && !r.WasOpened() && !r.AllowsBeside(channel.OfClient()...) {
		w.state = approval.Withdrawn
		return w
	}
	q.TellOperators(r, q.call.Peer.Name)
	if way != "" && q.call.Peer.Rev.InputRequired {
		q.Approvals.Put(r, way) // the client sends the answer when it calls again
		state := q.Sealer.Seal(seal.Round{Approval: r.ID, Channel: way, Expires: r.Expires}, r.Key.Bytes())
		w.parked = inputAnswer{state: state, question: q.question(r, way, "")}
		return w
	}
	hold := min(q.Approval.Hold(q.call.Peer.Name), r.Expires.Sub(q.Life.Now()))
	if q.call.Peer.Rev.InputRequired {
		hold = min(hold, roundHold)
	} else {
		w.shown = q.elicit(r, way)
	}
	w.hold = asking.NewHold(hold, r.Answered(), q.call.ctx.Done())
	if q.call.Meta.ProgressToken != nil { // without a progress token, the client gets no notifications
		w.hold.Tell(r.Unasked())
	}
	return w
}

// endWait sets the result of a wait that has ended.
func (q *askedCall) endWait(w *personWait) {
	r := w.request
	w.state = q.Approvals.Status(r).State
	if w.shown.ended != nil && (w.state != approval.Pending || q.call.ctx.Err() != nil) {
		<-w.shown.ended // the prompt must end first, because the call's stream ends with the call
	}
	switch {
	case q.call.ctx.Err() != nil:
		w.state = approval.Withdrawn
	case w.state != approval.Pending: // the request was answered or has expired
	case q.call.Peer.Rev.InputRequired && w.rounds < maxRounds:
		w.parked = inputAnswer{state: q.Sealer.Seal(seal.Round{Approval: r.ID, Number: w.rounds + 1, Expires: r.Expires}, r.Key.Bytes())}
	default:
		w.parked = waitingRefusal(asking.ParkedText(r.ID), r)
	}
}

// handleEvent handles an event during a wait, and reports whether the call continues to wait. It
// sends a progress notification to the client, or shows the question again if the call that showed
// it has ended.
func (q *askedCall) handleEvent(w *personWait) bool {
	note := "Waiting for a person: approval " + w.request.ID + "."
	switch w.event {
	case asking.Ended:
		q.endWait(w)
		return false
	case asking.Gone:
		w.shown = q.elicit(w.request, q.elicitChannel(w.request))
		return true
	case asking.Unasked:
		note = "The client did not show the question. An operator can still answer approval " + w.request.ID + "."
	}
	w.progress++
	q.call.Stream.Send(asking.ProgressNote(q.call.Meta.ProgressToken, w.progress, note))
	return true
}
