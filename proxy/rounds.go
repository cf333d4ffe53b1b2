package proxy

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
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxInputRounds is how often an upstream may ask for input in one call.
const maxInputRounds = 16

// maxInputs bounds what is asked for in one round.
const maxInputs = 64

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
func (t *toolCall) subject() []byte {
	return []byte(strings.Join([]string{
		"round", t.client.session.id, t.method, t.tool.canonical, t.tool.definition, t.argumentsDigest(),
	}, "\x00"))
}

// readInput takes what the client brings to another round. A state that is not
// ours is noted: nothing is forwarded with it. Responses without a state go on
// as they came, since upstreams that keep no state read them; whatever the gate
// asks a person never looks at them.
func (t *toolCall) readInput() {
	if !t.agent.rev.InputRequired {
		return
	}
	if !t.params.HasState {
		t.input = input{responses: t.params.InputResponses, ours: true}
		return
	}
	state, err := t.proxy.sealer.Open(t.params.RequestState)
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
func (p *Proxy) resume(t *toolCall) bool {
	if t.input.suspended == "" {
		return false
	}
	t.turn.leave() // it is decided, and may wait for its upstream
	x := p.suspended.take(t.input.suspended)
	if x != nil && x.call.approved != nil { // what runs stays what was shown
		t.approved, t.params = x.call.approved, t.params.AsShown(x.call.approved.meta)
	}
	switch {
	case x == nil && t.tool.upstream.rev().InputRequired:
		return false // a state that came before is another call, which the gate decides on
	case x == nil:
		t.refuseAs(codeInvalidParams, "requestState is of a call that is over; call "+t.tool.exposed+" again without it.")
	case x.inflight != nil:
		x.inflight.attach(t, x)
	default:
		p.launch(t, x.ticket)
	}
	return true
}

// wantsInput takes a result of 2026-07-28 that asks for input. It returns
// why the call cannot go on with it; empty: it does.
func (f *inflightCall) wantsInput(t *toolCall, result []byte) (why string) {
	p, name := f.call.proxy, t.tool.upstream.config.Name
	if t.input.round >= maxInputRounds {
		return fmt.Sprintf("The upstream %s asked for input more than %d times.", name, maxInputRounds)
	}
	requests, err := inputRequests(result)
	if err == nil {
		err = t.agent.answersAll(requests)
	}
	switch {
	case err != nil:
		return fmt.Sprintf("The upstream %s asked for input that cannot be had: %v.", name, err)
	case t.agent.rev.InputRequired:
		return f.suspend(t, result)
	}
	t.besideReader(func() { p.askRound(f, t, requests, result) })
	return ""
}

// suspend lets a client of 2026-07-28 be asked in its own way.
func (f *inflightCall) suspend(t *toolCall, result []byte) (why string) {
	p := f.call.proxy
	x := &suspendedCall{id: randomID(""), ticket: f.ticket, call: f.call}
	if !p.suspended.add(x, p.several.Load(), p.approval.Expire, p.notResumed) {
		return "Too many calls wait for input."
	}
	r := seal.Round{Number: t.input.round + 1, Pause: x.id, Expires: p.now().Add(p.approval.Expire)}
	if t.approved != nil {
		r.Beside = t.approved.beside
	}
	if lit, ok := rawjson.Member(result, "requestState"); ok {
		state, _ := rawjson.String(lit)
		r.State = &state
	}
	t.pass(wire.ResultHead(t.id), withState(t.tool.upstream.withServerNames(result), p.sealer.Seal(r, t.subject())))
	return ""
}

// An inputRequest is one of the questions of a round.
type inputRequest struct {
	key    string
	method string
	params []byte
}

// inputRequests are those of a result.
func inputRequests(result []byte) (list []inputRequest, err error) {
	requests, ok := rawjson.Member(result, "inputRequests")
	if !ok {
		return nil, nil // it only wants to be asked again
	}
	whole := rawjson.Members(requests, func(key, value []byte, _ int) bool {
		params, _ := rawjson.Member(value, "params")
		list = append(list, inputRequest{string(key), member(value, "method"), params})
		return len(list) <= maxInputs
	})
	if !whole {
		return nil, errors.New("its questions cannot be read, or are too many")
	}
	return list, nil
}

func (a agent) answersAll(requests []inputRequest) error {
	for _, r := range requests {
		if !a.answers(r.method, r.params) {
			return fmt.Errorf("the client does not support %s", text.Escape(r.method))
		}
	}
	return nil
}

// besideReader runs what may wait: on the goroutine of the client where that is
// the caller's, and else on one of its own.
func (t *toolCall) besideReader(f func()) {
	t.bind(t.proxy.ctx)
	if t.waitsHere() {
		f()
		return
	}
	t.proxy.background(func() {
		defer t.proxy.recovered(t.method, t.id, t.stream)
		f()
	})
}

// askRound asks a client with a handshake by requests of ours, and sends the
// call again with its answers, under the ticket that it has.
func (p *Proxy) askRound(f *inflightCall, t *toolCall, requests []inputRequest, result []byte) {
	responses, err := p.askAll(t, requests)
	if err != nil {
		p.settle(t.client.session, f.ticket, gate.Failure, "no input")
		if t.wanted() {
			t.answer(unanswered("unsupported", gate.Failure, fmt.Sprintf("%s did not complete: %v.", t.tool.exposed, err)))
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
func (p *Proxy) askAll(t *toolCall, requests []inputRequest) ([]byte, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(t.ctx, p.approval.Expire, errors.New("the client did not answer in time"))
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
		object = append(append(rawjson.AppendString(object, r.key), ':'), answers[i]...)
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
func (p *Proxy) askClient(ctx context.Context, t *toolCall, r inputRequest) ([]byte, error) {
	p.urlElicitations.at(t.tool.upstream).sends(t.client, r.method, r.params)
	result, failure, err := t.client.questions.ask(ctx, t.stream, r.method, withElicitationID(r.method, t.tool.upstream.withServerName(r.params)))
	switch {
	case err != nil:
		return nil, err
	case result != nil:
		return result, nil
	case r.method == "elicitation/create":
		return []byte(`{"action":"cancel"}`), nil
	}
	return nil, fmt.Errorf("the client refused %s: %s", r.method, text.Escape(member(failure, "message")))
}

// stateMember is the member of a result that holds a state of ours.
func stateMember(state string) []byte {
	return rawjson.AppendString([]byte(`"requestState":`), state)
}

// waitingFor is how long a question of an upstream may stand.
func (p *Proxy) waitingFor() time.Duration { return p.approval.Expire }
