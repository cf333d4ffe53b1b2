package pipeline

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// resume continues a call that the gate has admitted and that was suspended until its client sent
// input. The result is true if the gate must still decide the call, and false if resume has
// continued it.
func (p *Pipeline) resume(c *Call) bool {
	c.readInput()
	if c.input.suspended == "" {
		return true
	}
	c.Turn.Release() // the call was already decided, and might now wait for its server
	x, err := p.pickUp(c)
	if x != nil && x.approved != nil { // send the call exactly as displayed to a person
		c.approved, c.params = x.approved, c.params.WithMetaShown(x.approved.Meta)
	}
	switch {
	case err != nil:
		c.answer(refusal{p.Admission.RefuseError(p.Life.Ctx, c.admission(), err)})
	case x == nil && c.Tool.Upstream.Rev().InputRequired:
		return true // the requestState has already been used, so this is a new call for the gate to decide
	case x == nil && c.input.elsewhere:
		c.answerError(spec.CodeInvalidParams, "requestState belongs to a call that is waiting at another petrigate process, with its own connection to the upstream; send it there, or call "+c.Tool.Exposed+" again without it.")
	case x == nil:
		c.answerError(spec.CodeInvalidParams, "requestState belongs to a call that has ended; call "+c.Tool.Exposed+" again without it.")
	case x.inflight != nil:
		x.inflight.attach(c, x)
	default:
		p.forwardAgain(c, x.ticket)
	}
	return false
}

// continueWithInput asks the client for the input that an InputRequiredResult requests. It reports
// whether the call continues. If it does not, the call has failed and has been answered.
func (f *inflightCall) continueWithInput(c *Call, result []byte) bool {
	why := f.askForInput(c, result)
	if why == "" {
		return true
	}
	f.Call.pipeline.settle(f.Call.State, f.ticket, gate.End{Outcome: gate.Failure}, "")
	c.answer(unanswered("unsupported", gate.Failure, why))
	return false
}

// askForInput sends the inputRequests of a result to the client. It returns the reason why the call
// cannot continue, or "".
func (f *inflightCall) askForInput(c *Call, result []byte) (why string) {
	p, name := f.Call.pipeline, c.Tool.Upstream.Config.Name
	if c.input.round >= maxInputRounds {
		return fmt.Sprintf("The upstream %s asked for input more than %d times.", name, maxInputRounds)
	}
	requests, err := spec.InputRequests(result)
	if err == nil {
		err = answersAll(c.Peer, requests)
	}
	switch {
	case err != nil:
		return fmt.Sprintf("The upstream %s asked for input that is not available: %v.", name, err)
	case c.Peer.Rev.InputRequired:
		return f.suspend(c, result)
	}
	c.continueOff(serverReader, func() { p.askRound(f, c, requests, result) })
	return ""
}

// askRound sends the server's requests for input to a client that uses revision 2025-11-25. It then
// forwards the call again, with the responses and with the same ticket.
func (p *Pipeline) askRound(f *inflightCall, c *Call, requests []spec.InputRequest, result []byte) {
	responses, err := p.askAll(c, requests)
	if err != nil {
		p.settle(c.State, f.ticket, gate.End{Outcome: gate.Failure}, "no input")
		if c.wanted() {
			c.answer(unanswered("unsupported", gate.Failure, fmt.Sprintf("%s did not complete: %v.", c.Tool.Exposed, err)))
		} else {
			c.end(nil)
		}
		return
	}
	c.input = input{responses: responses, round: c.input.round + 1, ours: true}
	if lit, ok := rawjson.Member(result, "requestState"); ok {
		c.input.state, c.input.hasState = rawjson.String(lit)
	}
	p.forwardAgain(c, f.ticket)
}
