package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

var errNoInput = errors.New("the client did not come back with what it was asked for")

// A toolCall is one tools/call on its way, or a prompts/get or resources/read. What the gate decides on, what a
// person is shown and what the upstream gets all come from its one parse.
type Call struct {
	proxy  *Pipeline
	Client *session.Client
	Stream spec.Stream
	Agent  session.Peer
	Method string
	ID     []byte    // on the wire
	params wire.Call // what is left of them once it is sent
	digest string    // of the arguments, once it is sent
	Meta   wire.Meta
	Tool   *pool.Tool
	gate   gate.Call
	input  input // of another round

	Turn    *Turn       // to be decided; nil: at once
	Headers http.Header // of a request that has to mirror arguments in them; nil: it has not

	approved     *approvedBeside // by a person; nil: no person was asked
	emulatesTask bool            // its server runs it as a task, of which its client is told nothing

	// ctx is what waiting for a person ends with.
	ctx   context.Context //nolint:containedctx // the call is what it would be passed with
	Aside func(func())    // runs what may wait; where nobody else is kept waiting, at once
	notes *session.Outbox // for the goroutine of the client; nil: they are written at once

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
func (p *Pipeline) serve(t *Call) {
	t.readInput()
	if p.resume(t) || p.taskRefused(t) { // another round of a call that has passed the gate ends here
		return
	}
	for _, step := range [...]func(*Call) answer{
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
		p.Advertiser.Touch(t.Client.Session)
		p.launch(t, d.Ticket)
	case *admission.Refused:
		t.release()
		t.refuse(d)
	case *admission.Asked:
		t.release()                         // a place is for those that run
		t.unhold()                          // the broker of approvals counts
		t.Aside(func() { p.approve(t, d) }) // a person may think for long
	}
}

// decide asks the gate, when it is the turn of the call.
func (p *Pipeline) decide(t *Call) admission.Decision {
	t.Turn.Take(nil)
	defer t.Turn.Leave()
	return p.Admission.Decide(p.Life.Ctx, t.admission())
}

// admission is the call as it is decided and as it stands on record.
func (t *Call) admission() *admission.Call {
	c := &admission.Call{
		Key: t.Client.Session.Key(), Gate: t.gate, Offered: t.proxy.Pool.Catalogue.Load().Calls,
		Client: t.Agent.Name, ID: string(t.ID), Upstream: t.Tool.Upstream.Config.Name,
		Tool: t.recorded(), Canonical: t.Tool.Canonical, Digest: t.digest,
	}
	if t.params.HasState && t.Agent.Rev.InputRequired && !t.input.ours {
		c.Invalid = seal.ErrState
	}
	return c
}

// refuse tells the client that the call is not made.
func (t *Call) refuse(r *admission.Refused) {
	if r.Err != nil { // the call itself is wrong
		t.refuseAs(spec.CodeInvalidParams, r.Err.Error())
		return
	}
	t.answer(refusal{r})
}

// sent forgets the message that the call came in, whose arguments may be large:
// the upstream has them. A client, or an upstream that does not answer, would
// otherwise have us keep them for as long as it likes. Of the arguments only
// their hash stays.
func (t *Call) sent() {
	t.unhold()
	t.digest = t.argumentsDigest()
	t.params, t.input.responses = t.params.Sent(), nil
	t.gate = gate.Call{Time: t.gate.Time}
}

// argumentsDigest is the SHA-256 of the arguments.
func (t *Call) argumentsDigest() string {
	if t.digest != "" {
		return t.digest
	}
	return wire.Digest(t.params.Arguments)
}

// Cancel is for a client that does not want the answer any more, or is gone.
// A call that was not sent yet never is.
func (t *Call) Cancel(reason error) {
	stop, f := t.cancelled(reason)
	if stop != nil {
		stop(reason)
	}
	if f != nil {
		f.Abandon(reason)
	}
}

// Bind makes the context that waiting for a person ends with.
func (t *Call) Bind(ctx context.Context) {
	ctx, stop := context.WithCancelCause(ctx)
	t.ctx = ctx
	t.stopBy(stop)
}

// close notes that the call is over for its client, once.
func (t *Call) close() bool {
	first, stop := t.over()
	if first {
		t.unhold()
		t.Client.Requests.End(wire.IDKey(t.ID))
		if stop != nil {
			stop(nil)
		}
	}
	return first
}

// end is conclude with an answer, which is not written where nobody waits for
// it: what a server says to a cancellation may come before we have done with it.
func (t *Call) end(send func()) {
	wanted := t.wanted()
	t.conclude(func() {
		if wanted {
			send()
		}
	})
}

// conclude ends the call for its client by the answer that send writes, after
// all that its upstream has told before.
func (t *Call) conclude(send func()) {
	if t.close() {
		if t.notes != nil {
			t.notes.WriteTo(t.Stream)
		}
		send()
		t.Client.Requests.Answered()
	}
}

// RecordRefusal puts a refusal on record that is not of the nets. It is refused
// whether or not that succeeds.
func (p *Pipeline) RecordRefusal(t *Call, r refusal) {
	p.Admission.Refused(p.Life.Ctx, t.admission(), r.Refused)
}

// unreachable answers a call whose upstream is known to be down before the
// gate is asked, so that nothing is spent on it.
func (p *Pipeline) unreachable(t *Call) answer {
	state := t.Tool.Upstream.State()
	if state.Phase == upstream.Up {
		return nil
	}
	name := t.Tool.Upstream.Config.Name
	if r, ok := t.unauthorized(state.Err).(refusal); ok {
		p.RecordRefusal(t, r)
		return r
	}
	r := PlainRefusal("unavailable", fmt.Sprintf("The upstream %s is not running, so %s was not called and nothing was spent. %s",
		name, t.Tool.Exposed, "Other tools may work; try again later."))
	p.RecordRefusal(t, r)
	return r
}

// unrecordable answers a call before the gate is asked where its decision is
// known not to go on record.
func (p *Pipeline) unrecordable(t *Call) answer {
	if r := p.Admission.Ready(t.Tool.Canonical); r != nil {
		return refusal{r}
	}
	return nil
}

// answer sends a whole JSON-RPC answer that is ours, if anybody waits for it.
func (t *Call) answer(a answer) {
	t.end(func() { t.AnswerOnly(a) })
}

// AnswerOnly is answer for a request that is not one of the client's open ones.
// A refusal can be told as a result only where a tool was called.
func (t *Call) AnswerOnly(a answer) {
	r, refused := a.(refusal)
	switch {
	case refused && t.Method != spec.CallTool:
		t.Stream.Reply(wire.AppendError(nil, t.ID, spec.CodeInvalidRequest, r.Text, nil))
	case refused && t.asTask(): // a result would have to be a task
		t.Stream.Reply(wire.AppendError(nil, t.ID, spec.CodeInvalidRequest, r.Text, r.meta()))
	default:
		t.Stream.Reply(a.append(nil, t.ID, t.Agent.Rev))
	}
}

// pass sends what the upstream said.
func (t *Call) pass(head, body []byte) {
	t.end(func() { t.Stream.Reply(head, body, wire.Tail) })
}

// deliver sends what the upstream said, byte for byte, or what went wrong.
func (t *Call) deliver(r upstream.Reply, facts wire.Facts) {
	switch {
	case errors.Is(r.Err, spec.ErrCancelled) || errors.Is(r.Err, spec.ErrGone) || errors.Is(r.Err, context.Canceled):
		t.conclude(func() {}) // nobody waits for an answer
	case r.Err != nil:
		t.answer(t.failed(r.Err))
	case r.Error != nil:
		t.proxy.Reverse.URLElicitations.At(t.Tool.Upstream).Demands(t.Client, r.Error)
		t.pass(wire.ErrorHead(t.ID), r.Error)
	case facts.Handle() && t.Method == spec.CallTool:
		t.answer(unanswered("unknown", gate.Unknown, fmt.Sprintf(
			"The upstream made a task of %s that cannot be followed: its outcome is unknown. Find out before calling it again.", t.Tool.Exposed)))
	case facts.Type == wire.TypeInputRequired:
		t.answer(unanswered("unsupported", gate.Failure, fmt.Sprintf(
			"The upstream asked for more input before it would run %s. That is not supported yet; the call did not complete.", t.Tool.Exposed)))
	default:
		t.pass(wire.ResultHead(t.ID), t.Tool.Upstream.ResultFor(r.Result, t.Method, t.Agent.Rev))
	}
}

// failed is what a client is told where there is no result.
func (t *Call) failed(err error) answer {
	name := t.Tool.Upstream.Config.Name
	if a := t.unauthorized(err); a != nil {
		return a
	}
	if errors.Is(err, upstream.ErrNotSent) {
		return unanswered("unavailable", gate.Failure, fmt.Sprintf("The upstream %s could not be reached; %s was not called.", name, t.Tool.Exposed))
	}
	var status *upstream.StatusError
	if errors.As(err, &status) && !status.Executed() {
		return unanswered("unavailable", gate.Failure, fmt.Sprintf("The upstream %s turned the request away: %v. %s did not run.", name, err, t.Tool.Exposed))
	}
	return unanswered("unknown", gate.Unknown, fmt.Sprintf(
		"The outcome of %s is unknown: upstream %s: %v. It may or may not have taken effect; find out before calling it again.",
		t.Tool.Exposed, name, err))
}
