package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxInputRounds limits how often a server can ask for input in one call.
const maxInputRounds = 16

// An input is the input that a client sends with another round of a call (inputResponses and
// requestState of 2026-07-28). The zero value belongs to a first round.
type input struct {
	responses []byte // inputResponses, an object; nil: none
	state     string // the server's requestState
	hasState  bool
	round     int    // number of rounds before this one
	suspended string // id of the suspendedCall; empty: none
	elsewhere bool   // another process has suspended the call
	ours      bool   // the proxy made the requestState, or the client sent none
}

// subject returns the identity of this call, for binding its requestState to it.
func (c *Call) subject() []byte {
	return []byte(strings.Join([]string{
		"round", c.Client.Session.ID, c.Method, c.Tool.Canonical, c.Tool.Definition, c.argumentsDigest(),
	}, "\x00"))
}

// readInput reads the input that the client sends with another round. If the requestState is not
// the proxy's own, nothing is forwarded. inputResponses without a requestState are forwarded
// unchanged, since servers that keep no state read them; a person's approval never comes from them.
func (c *Call) readInput() {
	if !c.Peer.Rev.InputRequired {
		return
	}
	if !c.params.HasState {
		c.input = input{responses: c.params.InputResponses, ours: true}
		return
	}
	state, err := c.pipeline.Sealer.Open(c.pipeline.Life.Ctx, c.params.RequestState)
	switch {
	case err != nil:
		c.input = input{}
	case state.Approval != "": // the responses answer the proxy's own question
		c.input = input{ours: true}
	case state.For(c.subject()) && (state.Beside == "" || state.Beside == c.besideDigest()):
		c.input = input{responses: c.params.InputResponses, round: state.Number, suspended: state.Pause, elsewhere: state.Elsewhere, ours: true}
		if state.State != nil {
			c.input.state, c.input.hasState = *state.State, true
		}
	}
}

// resume continues a call that was suspended until its client sent the input, and that the gate has
// admitted before. It reports false if it did, and true if the gate has to decide on the call.
func (p *Pipeline) resume(c *Call) bool {
	c.readInput()
	if c.input.suspended == "" {
		return true
	}
	c.Turn.Leave() // the call was decided before, and might wait for its server
	x, err := p.pickUp(c)
	if x != nil && x.approved != nil { // run the call that a person was shown
		c.approved, c.params = x.approved, c.params.AsShown(x.approved.Meta)
	}
	switch {
	case err != nil:
		c.answer(refusal{p.Admission.RefuseError(p.Life.Ctx, c.admission(), err)})
	case x == nil && c.Tool.Upstream.Rev().InputRequired:
		return true // a requestState used before makes it a new call, and the gate decides on it
	case x == nil && c.input.elsewhere:
		c.answerError(spec.CodeInvalidParams, "requestState is of a call that waits at another petrigate, on a connection of its own to the upstream; send it there, or call "+c.Tool.Exposed+" again without it.")
	case x == nil:
		c.answerError(spec.CodeInvalidParams, "requestState is of a call that is over; call "+c.Tool.Exposed+" again without it.")
	case x.inflight != nil:
		x.inflight.attach(c, x)
	default:
		p.forwardAgain(c, x.ticket)
	}
	return false
}

// wantsInput reports whether the server has replied with an InputRequiredResult
// (2026-07-28).
func (f *inflightCall) wantsInput(r upstream.Reply, facts wire.Facts) bool {
	return f.rev.InputRequired && r.Result != nil && facts.Type == wire.TypeInputRequired && !facts.Broken
}

// askForInput asks the client for the inputRequests of a result. It returns why the call cannot
// continue, or an empty string.
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
		return fmt.Sprintf("The upstream %s asked for input that cannot be had: %v.", name, err)
	case c.Peer.Rev.InputRequired:
		return f.suspend(c, result)
	}
	c.spawnFromReply(func() { p.askRound(f, c, requests, result) })
	return ""
}

// suspend forwards an InputRequiredResult to a client of 2026-07-28, and keeps the call for the
// round that brings the responses. It returns why it cannot, or an empty string.
func (f *inflightCall) suspend(c *Call, result []byte) (why string) {
	p := f.Call.pipeline
	x := &suspendedCall{id: lifetime.RandomID(""), ticket: f.ticket, call: f.Call, approved: f.Call.approved}
	r := seal.Round{Number: c.input.round + 1, Pause: x.id, Expires: p.Life.Now().Add(p.Approval.Expire)}
	switch err := p.storeSuspended(c, x, r.Expires); {
	case errors.Is(err, rounds.ErrFull):
		return "Too many calls wait for input."
	case err != nil:
		p.Life.Log.Error("a call cannot be kept until its input comes", "tool", c.Tool.Canonical, "call", f.ticket.Number, "error", err)
		return fmt.Sprintf("The upstream %s asked for input, and the call cannot be kept until it comes.", c.Tool.Upstream.Config.Name)
	}
	if c.approved != nil {
		r.Beside = c.approved.Beside
	}
	if lit, ok := rawjson.Member(result, "requestState"); ok {
		state, _ := rawjson.String(lit)
		r.State = &state
	}
	c.replyRaw(wire.ResultHead(c.ID), withState(c.Tool.Upstream.WithServerNames(result), p.Sealer.Seal(r, c.subject())))
	return ""
}

// storeSuspended stores a call that c suspends. It returns [rounds.ErrFull] if too many calls are suspended.
func (p *Pipeline) storeSuspended(c *Call, x *suspendedCall, expires time.Time) error {
	several := p.Sessions.SeveralPrincipals.Load()
	switch {
	case p.Rounds != nil:
		return p.Rounds.Keep(x.id, c.subject(), several, rounds.Round{Ticket: x.ticket, Approved: x.approved, Expires: expires})
	case p.suspended.add(x, several, p.Approval.Expire, p.notResumed):
		return nil
	}
	return rounds.ErrFull
}

// answersAll returns an error if the client does not support one of the requests.
func answersAll(a session.Peer, requests []spec.InputRequest) error {
	for _, r := range requests {
		if !a.Answers(r.Method, r.Params) {
			return fmt.Errorf("the client does not support %s", text.Escape(r.Method))
		}
	}
	return nil
}

// askRound sends the server's input requests to a client of 2025-11-25, and forwards the call again
// with the responses under its existing ticket.
func (p *Pipeline) askRound(f *inflightCall, c *Call, requests []spec.InputRequest, result []byte) {
	responses, err := p.askAll(c, requests)
	if err != nil {
		p.settle(c.State, f.ticket, gate.End{Outcome: gate.Failure}, "no input")
		if c.wanted() {
			c.answer(unanswered("unsupported", gate.Failure, fmt.Sprintf("%s did not complete: %v.", c.Tool.Exposed, err)))
		} else {
			c.conclude(func() {})
		}
		return
	}
	c.input = input{responses: responses, round: c.input.round + 1, ours: true}
	if lit, ok := rawjson.Member(result, "requestState"); ok {
		c.input.state, c.input.hasState = rawjson.String(lit)
	}
	p.forwardAgain(c, f.ticket)
}

// askAll sends the requests of one round to the client, all at once, and returns its results as
// inputResponses, or nil if the round has no requests.
func (p *Pipeline) askAll(c *Call, requests []spec.InputRequest) ([]byte, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(c.ctx, p.Approval.Expire, errors.New("the client did not answer in time"))
	defer cancel()
	var all sync.WaitGroup
	answers := make([][]byte, len(requests))
	failures := make([]error, len(requests))
	for i, r := range requests {
		all.Go(func() { answers[i], failures[i] = p.askClient(ctx, c, r) })
	}
	all.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, failures[firstError(failures)]
	}
	object := []byte{'{'}
	for i, r := range requests {
		if i > 0 {
			object = append(object, ',')
		}
		object = append(append(rawjson.AppendString(object, r.Key), ':'), answers[i]...)
	}
	return append(object, '}'), nil
}

// firstError returns the index of the first error in list, or -1.
func firstError(list []error) int {
	for i, err := range list {
		if err != nil {
			return i
		}
	}
	return -1
}

// askClient sends one request to the client on the stream of the call, and returns its result. A
// failed elicitation counts as cancelled; no other request has such a result.
func (p *Pipeline) askClient(ctx context.Context, c *Call, r spec.InputRequest) ([]byte, error) {
	p.Reverse.URLElicitations.At(c.Tool.Upstream).Sends(c.Client, r.Method, r.Params)
	result, failure, err := c.Client.ClientRequests.Ask(ctx, c.Stream, r.Method, reverse.WithElicitationID(r.Method, c.Tool.Upstream.WithServerName(r.Params)))
	switch {
	case err != nil:
		return nil, err
	case result != nil:
		return result, nil
	case r.Method == "elicitation/create":
		return []byte(`{"action":"cancel"}`), nil
	}
	return nil, fmt.Errorf("the client refused %s: %s", r.Method, text.Escape(spec.Member(failure, "message")))
}

// stateMember returns the JSON member requestState.
func stateMember(state string) []byte {
	return rawjson.AppendString([]byte(`"requestState":`), state)
}
