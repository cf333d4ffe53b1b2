package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

var (
	errCancelled = errors.New("cancelled by the client")
	errGone      = errors.New("the client is gone")
	errClosing   = errors.New("the proxy ends")
	errNoInput   = errors.New("the client did not come back with what it was asked for")
)

// A toolCall is one tools/call on its way, or a prompts/get or resources/read. What the gate decides on, what a
// person is shown and what the upstream gets all come from its one parse.
type toolCall struct {
	proxy  *Proxy
	client *client
	stream stream
	agent  agent
	method string
	id     []byte    // on the wire
	params wire.Call // what is left of them once it is sent
	digest string    // of the arguments, once it is sent
	meta   wire.Meta
	tool   *tool
	gate   gate.Call
	input  input // of another round

	turn    *turn       // to be decided; nil: at once
	headers http.Header // of a request that has to mirror arguments in them; nil: it has not

	approved     *approvedBeside // by a person; nil: no person was asked
	emulatesTask bool            // its server runs it as a task, of which its client is told nothing

	// ctx is what waiting for a person ends with.
	ctx   context.Context //nolint:containedctx // the call is what it would be passed with
	aside func(func())    // runs what may wait; where nobody else is kept waiting, at once
	notes *notes          // for the goroutine of the client; nil: they are written at once

	callState

	size      int         // of its message, as it is counted while it waits
	held      atomic.Bool // it is counted
	reserved  atomic.Bool // it has a place among the calls under way at its upstream
	taskPlace atomic.Bool // and one among the tasks of its session
}

// An answer is what a client is told instead of an upstream's result.
type answer interface {
	append(dst, id []byte, r *rev.Rev) []byte
}

// serve takes a call to its server: it decides the call, and forwards it if it may
// run. What its upstream answers comes to [inflightCall.finish]. The order is the security property
// of the proxy: nothing is sent before the decision is on record, and no token is produced
// before the outcome is. It runs on the reader of the client and never waits there: what
// has to wait goes on aside.
func (p *Proxy) serve(t *toolCall) {
	t.readInput()
	if p.resume(t) || p.taskRefused(t) { // another round of a call that has passed the gate ends here
		return
	}
	for _, step := range [...]func(*toolCall) answer{
		p.unreachable,  // so that nothing is spent on a server that is down
		p.unrecordable, // nor where the decision could not go on record
		p.reserve,      // nor where there is no place for it
	} {
		if a := step(t); a != nil {
			t.answer(a)
			return
		}
	}
	switch d := p.decide(t).(type) {
	case *admission.Admitted: // on record
		p.advisor.touch(t.client.session)
		p.launch(t, d.Ticket)
	case *admission.Refused:
		t.release()
		t.refuse(d)
	case *admission.Asked:
		t.release()                         // a place is for those that run
		t.unhold()                          // the broker of approvals counts
		t.aside(func() { p.approve(t, d) }) // a person may think for long
	}
}

// decide asks the gate, when it is the turn of the call.
func (p *Proxy) decide(t *toolCall) admission.Decision {
	t.turn.take(nil)
	defer t.turn.leave()
	return p.admission.Decide(p.ctx, t.admission())
}

// admission is the call as it is decided and as it stands on record.
func (t *toolCall) admission() *admission.Call {
	c := &admission.Call{
		Key: t.client.session.key(), Gate: t.gate, Offered: t.proxy.catalogue.load().calls,
		Client: t.agent.name, ID: string(t.id), Upstream: t.tool.upstream.config.Name,
		Tool: t.recorded(), Canonical: t.tool.canonical, Digest: t.digest,
	}
	if t.params.HasState && t.agent.rev.InputRequired && !t.input.ours {
		c.Invalid = seal.ErrState
	}
	return c
}

// refuse tells the client that the call is not made.
func (t *toolCall) refuse(r *admission.Refused) {
	if r.Err != nil { // the call itself is wrong
		t.refuseAs(codeInvalidParams, r.Err.Error())
		return
	}
	t.answer(refusal{r})
}

// sent forgets the message that the call came in, whose arguments may be large:
// the upstream has them. A client, or an upstream that does not answer, would
// otherwise have us keep them for as long as it likes. Of the arguments only
// their hash stays.
func (t *toolCall) sent() {
	t.unhold()
	t.digest = t.argumentsDigest()
	t.params, t.input.responses = t.params.Sent(), nil
	t.gate = gate.Call{Time: t.gate.Time}
}

// argumentsDigest is the SHA-256 of the arguments.
func (t *toolCall) argumentsDigest() string {
	if t.digest != "" {
		return t.digest
	}
	return wire.Digest(t.params.Arguments)
}

// cancel is for a client that does not want the answer any more, or is gone.
// A call that was not sent yet never is.
func (t *toolCall) cancel(reason error) {
	stop, f := t.cancelled(reason)
	if stop != nil {
		stop(reason)
	}
	if f != nil {
		f.abandon(reason)
	}
}

// bind makes the context that waiting for a person ends with.
func (t *toolCall) bind(ctx context.Context) {
	ctx, stop := context.WithCancelCause(ctx)
	t.ctx = ctx
	t.stopBy(stop)
}

// close notes that the call is over for its client, once.
func (t *toolCall) close() bool {
	first, stop := t.over()
	if first {
		t.unhold()
		t.client.requests.end(wire.IDKey(t.id))
		if stop != nil {
			stop(nil)
		}
	}
	return first
}

// end is conclude with an answer, which is not written where nobody waits for
// it: what a server says to a cancellation may come before we have done with it.
func (t *toolCall) end(send func()) {
	wanted := t.wanted()
	t.conclude(func() {
		if wanted {
			send()
		}
	})
}

// conclude ends the call for its client by the answer that send writes, after
// all that its upstream has told before.
func (t *toolCall) conclude(send func()) {
	if t.close() {
		if t.notes != nil {
			t.notes.writeTo(t.stream)
		}
		send()
		t.client.requests.answered()
	}
}

// recordRefusal puts a refusal on record that is not of the nets. It is refused
// whether or not that succeeds.
func (p *Proxy) recordRefusal(t *toolCall, r refusal) {
	p.admission.Refused(p.ctx, t.admission(), r.Refused)
}

// unreachable answers a call whose upstream is known to be down before the
// gate is asked, so that nothing is spent on it.
func (p *Proxy) unreachable(t *toolCall) answer {
	state := t.tool.upstream.State()
	if state.Phase == upstream.Up {
		return nil
	}
	name := t.tool.upstream.config.Name
	if r, ok := t.unauthorized(state.Err).(refusal); ok {
		p.recordRefusal(t, r)
		return r
	}
	r := plainRefusal("unavailable", fmt.Sprintf("The upstream %s is not running, so %s was not called and nothing was spent. %s",
		name, t.tool.exposed, "Other tools may work; try again later."))
	p.recordRefusal(t, r)
	return r
}

// unrecordable answers a call before the gate is asked where its decision is
// known not to go on record.
func (p *Proxy) unrecordable(t *toolCall) answer {
	if r := p.admission.Ready(t.tool.canonical); r != nil {
		return refusal{r}
	}
	return nil
}

// answer sends a whole JSON-RPC answer that is ours, if anybody waits for it.
func (t *toolCall) answer(a answer) {
	t.end(func() { t.answerOnly(a) })
}

// answerOnly is answer for a request that is not one of the client's open ones.
// A refusal can be told as a result only where a tool was called.
func (t *toolCall) answerOnly(a answer) {
	r, refused := a.(refusal)
	switch {
	case refused && t.method != callTool:
		t.stream.Reply(wire.AppendError(nil, t.id, codeInvalidRequest, r.Text, nil))
	case refused && t.asTask(): // a result would have to be a task
		t.stream.Reply(wire.AppendError(nil, t.id, codeInvalidRequest, r.Text, r.meta()))
	default:
		t.stream.Reply(a.append(nil, t.id, t.agent.rev))
	}
}

// pass sends what the upstream said.
func (t *toolCall) pass(head, body []byte) {
	t.end(func() { t.stream.Reply(head, body, wire.Tail) })
}

// deliver sends what the upstream said, byte for byte, or what went wrong.
func (t *toolCall) deliver(r upstream.Reply, facts wire.Facts) {
	switch {
	case errors.Is(r.Err, errCancelled) || errors.Is(r.Err, errGone) || errors.Is(r.Err, context.Canceled):
		t.conclude(func() {}) // nobody waits for an answer
	case r.Err != nil:
		t.answer(t.failed(r.Err))
	case r.Error != nil:
		t.proxy.urlElicitations.at(t.tool.upstream).demands(t.client, r.Error)
		t.pass(wire.ErrorHead(t.id), r.Error)
	case facts.Handle() && t.method == callTool:
		t.answer(unanswered("unknown", gate.Unknown, fmt.Sprintf(
			"The upstream made a task of %s that cannot be followed: its outcome is unknown. Find out before calling it again.", t.tool.exposed)))
	case facts.Type == wire.TypeInputRequired:
		t.answer(unanswered("unsupported", gate.Failure, fmt.Sprintf(
			"The upstream asked for more input before it would run %s. That is not supported yet; the call did not complete.", t.tool.exposed)))
	default:
		t.pass(wire.ResultHead(t.id), t.tool.upstream.theirs(r.Result, t.method, t.agent.rev))
	}
}

// failed is what a client is told where there is no result.
func (t *toolCall) failed(err error) answer {
	name := t.tool.upstream.config.Name
	if a := t.unauthorized(err); a != nil {
		return a
	}
	if errors.Is(err, upstream.ErrNotSent) {
		return unanswered("unavailable", gate.Failure, fmt.Sprintf("The upstream %s could not be reached; %s was not called.", name, t.tool.exposed))
	}
	var status *upstream.StatusError
	if errors.As(err, &status) && !status.Executed() {
		return unanswered("unavailable", gate.Failure, fmt.Sprintf("The upstream %s turned the request away: %v. %s did not run.", name, err, t.tool.exposed))
	}
	return unanswered("unknown", gate.Unknown, fmt.Sprintf(
		"The outcome of %s is unknown: upstream %s: %v. It may or may not have taken effect; find out before calling it again.",
		t.tool.exposed, name, err))
}
