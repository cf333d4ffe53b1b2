package pipeline

import (
	"time"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/proxy/internal/asking"
	"github.com/petrigate/petrigate/proxy/internal/seal"
)

// A personWait is a call's wait for the answer to an approval request.
type personWait struct {
	request  *approval.Request
	hold     *asking.Hold // the wait itself; nil: the result is already known
	event    asking.Event // the last event from the wait
	progress int          // number of progress notifications that were sent
	rounds   int          // number of rounds of the call so far
	shown    prompt
	state    approval.State // state of the approval request when the wait ended
	parked   answer         // answer for a client that must call again for the result; nil: the wait is over
}

const (
	maxRounds = 8                // maximum number of input_required results without a question in one call; clients give up after ten such results
	roundHold = 25 * time.Second // maximum time that the call waits before it returns an input_required result without a question
)

// beginWait asks a person if r is pending, and determines how long the call waits for the answer.
// If it leaves hold unset, the result is already known.
func (q *askedCall) beginWait(r *approval.Request) *personWait {
	w := &personWait{request: r, rounds: q.readResponse(r)}
	w.state = q.Approvals.Status(r).State
	if q.call.ctx.Err() != nil { // a canceled call does not ask for anything, and uses no consent
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
	q.tellOperators(r)
	if way != "" && q.call.Peer.Rev.InputRequired {
		w.parked = q.elicitByResult(r, way)
		return w
	}
	hold := min(q.Approval.Hold(q.call.Peer.Name), r.Expires.Sub(q.Life.Now()))
	if q.call.Peer.Rev.InputRequired {
		hold = min(hold, roundHold)
	} else {
		w.shown = q.elicit(r, way)
	}
	w.hold = asking.NewHold(hold, r.Answered(), q.call.ctx.Done())
	if q.call.Meta.ProgressToken != nil { // without a token, the client receives no notifications
		w.hold.Tell(r.Unasked())
	}
	return w
}

// endWait sets the result of a wait that has ended.
func (q *askedCall) endWait(w *personWait) {
	r := w.request
	w.state = q.Approvals.Status(r).State
	if w.shown.ended != nil && (w.state != approval.Pending || q.call.ctx.Err() != nil) {
		<-w.shown.ended // the prompt must end before the call ends, because the call's stream ends too
	}
	switch {
	case q.call.ctx.Err() != nil:
		w.state = approval.Withdrawn
	case w.state != approval.Pending: // the request was answered or has expired
	case q.call.Peer.Rev.InputRequired && w.rounds < maxRounds:
		w.parked = inputRequired{state: q.Sealer.Seal(seal.Round{Approval: r.ID, Number: w.rounds + 1, Expires: r.Expires}, r.Key.Bytes())}
	default:
		w.parked = waiting(asking.Parked(r.ID), r)
	}
}

// stillHeld handles an event that has occurred during a wait, and reports whether the call
// continues to wait. It sends a progress notification to the client. If the call that showed the
// question is gone, stillHeld shows the question again.
func (q *askedCall) stillHeld(w *personWait) bool {
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
