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
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxInputRounds is how often an upstream may ask for input in one call.
const maxInputRounds = 16

// input is what the upstream of a call gets of the answers to what it asked
// for. The zero value is a first round.
type input struct {
	responses []byte // an object; nil: none
	state     string // the upstream's own
	hasState  bool
	round     int    // how many there were before
	suspended string // the call that is still open; empty: none
	ours      bool   // the state is one of ours
}

// subject is what a state of a call is good for: that very call.
func (t *Call) subject() []byte {
	return []byte(strings.Join([]string{
		"round", t.Client.Session.ID, t.Method, t.Tool.Canonical, t.Tool.Definition, t.argumentsDigest(),
	}, "\x00"))
}

// readInput takes what the client brings to another round. A state that is not
// ours is noted: nothing is forwarded with it. Responses without a state go on
// as they came, since upstreams that keep no state read them; whatever the gate
// asks a person never looks at them.
func (t *Call) readInput() {
	if !t.Agent.Rev.InputRequired {
		return
	}
	if !t.params.HasState {
		t.input = input{responses: t.params.InputResponses, ours: true}
		return
	}
	state, err := t.proxy.Sealer.Open(t.params.RequestState)
	switch {
	case err != nil:
		t.input = input{}
	case state.Approval != "": // its responses are for us
		t.input = input{ours: true}
	case state.For(t.subject()) && (state.Beside == "" || state.Beside == t.besideDigest()):
		t.input = input{responses: t.params.InputResponses, round: state.Number, suspended: state.Pause, ours: true}
		if state.State != nil {
			t.input.state, t.input.hasState = *state.State, true
		}
	}
}

// resume takes a call up where its client was asked for input, and reports
// whether there is such a call. It has passed the gate.
func (p *Pipeline) resume(t *Call) bool {
	if t.input.suspended == "" {
		return false
	}
	t.Turn.Leave() // it is decided, and may wait for its upstream
	x := p.suspended.take(t.input.suspended)
	if x != nil && x.call.approved != nil { // what runs stays what was shown
		t.approved, t.params = x.call.approved, t.params.AsShown(x.call.approved.meta)
	}
	switch {
	case x == nil && t.Tool.Upstream.Rev().InputRequired:
		return false // a state that came before is another call, which the gate decides on
	case x == nil:
		t.refuseAs(spec.CodeInvalidParams, "requestState is of a call that is over; call "+t.Tool.Exposed+" again without it.")
	case x.inflight != nil:
		x.inflight.attach(t, x)
	default:
		p.launch(t, x.ticket)
	}
	return true
}

// wantsInput takes a result of 2026-07-28 that asks for input. It returns
// why the call cannot go on with it; empty: it does.
func (f *inflightCall) wantsInput(t *Call, result []byte) (why string) {
	p, name := f.Call.proxy, t.Tool.Upstream.Config.Name
	if t.input.round >= maxInputRounds {
		return fmt.Sprintf("The upstream %s asked for input more than %d times.", name, maxInputRounds)
	}
	requests, err := spec.InputRequests(result)
	if err == nil {
		err = answersAll(t.Agent, requests)
	}
	switch {
	case err != nil:
		return fmt.Sprintf("The upstream %s asked for input that cannot be had: %v.", name, err)
	case t.Agent.Rev.InputRequired:
		return f.suspend(t, result)
	}
	t.besideReader(func() { p.askRound(f, t, requests, result) })
	return ""
}

// suspend lets a client of 2026-07-28 be asked in its own way.
func (f *inflightCall) suspend(t *Call, result []byte) (why string) {
	p := f.Call.proxy
	x := &suspendedCall{id: lifetime.RandomID(""), ticket: f.ticket, call: f.Call}
	if !p.suspended.add(x, p.Sessions.SeveralPrincipals.Load(), p.Approval.Expire, p.notResumed) {
		return "Too many calls wait for input."
	}
	r := seal.Round{Number: t.input.round + 1, Pause: x.id, Expires: p.Life.Now().Add(p.Approval.Expire)}
	if t.approved != nil {
		r.Beside = t.approved.beside
	}
	if lit, ok := rawjson.Member(result, "requestState"); ok {
		state, _ := rawjson.String(lit)
		r.State = &state
	}
	t.pass(wire.ResultHead(t.ID), withState(t.Tool.Upstream.WithServerNames(result), p.Sealer.Seal(r, t.subject())))
	return ""
}

func answersAll(a session.Peer, requests []spec.InputRequest) error {
	for _, r := range requests {
		if !a.Answers(r.Method, r.Params) {
			return fmt.Errorf("the client does not support %s", text.Escape(r.Method))
		}
	}
	return nil
}

// besideReader runs what may wait: on the goroutine of the client where that is
// the caller's, and else on one of its own.
func (t *Call) besideReader(f func()) {
	t.Bind(t.proxy.Life.Ctx)
	if t.waitsHere() {
		f()
		return
	}
	t.proxy.Life.Background(func() {
		defer t.proxy.Life.Recovered(t.Method, t.ID, t.Stream)
		f()
	})
}

// askRound asks a client with a handshake by requests of ours, and sends the
// call again with its answers, under the ticket that it has.
func (p *Pipeline) askRound(f *inflightCall, t *Call, requests []spec.InputRequest, result []byte) {
	responses, err := p.askAll(t, requests)
	if err != nil {
		p.settle(t.Client.Session, f.ticket, gate.Failure, "no input")
		if t.wanted() {
			t.answer(unanswered("unsupported", gate.Failure, fmt.Sprintf("%s did not complete: %v.", t.Tool.Exposed, err)))
		} else {
			t.conclude(func() {})
		}
		return
	}
	t.input = input{responses: responses, round: t.input.round + 1, ours: true}
	if lit, ok := rawjson.Member(result, "requestState"); ok {
		t.input.state, t.input.hasState = rawjson.String(lit)
	}
	p.launch(t, f.ticket)
}

// askAll puts the questions of one round to the client, all at once, and
// returns its answers as one object; nil: there was no question.
func (p *Pipeline) askAll(t *Call, requests []spec.InputRequest) ([]byte, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(t.ctx, p.Approval.Expire, errors.New("the client did not answer in time"))
	defer cancel()
	var all sync.WaitGroup
	answers := make([][]byte, len(requests))
	failures := make([]error, len(requests))
	for i, r := range requests {
		all.Go(func() { answers[i], failures[i] = p.askClient(ctx, t, r) })
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

func firstError(list []error) int {
	for i, err := range list {
		if err != nil {
			return i
		}
	}
	return -1
}

// askClient puts one question to the client on the stream of the call. An
// elicitation that fails is one that nobody answered; of the rest there is no
// such answer.
func (p *Pipeline) askClient(ctx context.Context, t *Call, r spec.InputRequest) ([]byte, error) {
	p.Reverse.URLElicitations.At(t.Tool.Upstream).Sends(t.Client, r.Method, r.Params)
	result, failure, err := t.Client.ClientRequests.Ask(ctx, t.Stream, r.Method, reverse.WithElicitationID(r.Method, t.Tool.Upstream.WithServerName(r.Params)))
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

// stateMember is the member of a result that holds a state of ours.
func stateMember(state string) []byte {
	return rawjson.AppendString([]byte(`"requestState":`), state)
}

// waitingFor is how long a question of an upstream may stand.
func (p *Pipeline) waitingFor() time.Duration { return p.Approval.Expire }
