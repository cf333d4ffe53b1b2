package pipeline

import (
	"time"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/proxy/internal/asking"
	"github.com/petrigate/petrigate/proxy/internal/seal"
)

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

const (
	maxRounds = 8                // limit of input_required results without a question in one call; clients give up at ten
	roundHold = 25 * time.Second // duration of one such round
)

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
