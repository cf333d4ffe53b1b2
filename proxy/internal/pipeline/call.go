package pipeline

import (
	"context"
	"net/http"
	"runtime"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/turns"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Call is one tools/call, prompts/get or resources/read from its arrival to its answer. The gate,
// the person who approves and the server all see arguments from the same single parse of the
// message.
type Call struct {
	pipeline *Pipeline
	Client   *session.Client
	State    *session.Session // session whose nets decide
	Stream   spec.Stream
	Peer     session.Peer
	Method   string
	ID       []byte    // JSON-RPC id as the client wrote it
	params   wire.Call // parsed params, without the arguments once the call is sent
	digest   string    // digest of the arguments of a sent call, for its further rounds; empty: no further rounds
	Meta     wire.Meta
	Tool     *pool.Tool // nil until resolved
	placed   bool       // Tool.Upstream is the connection that serves the session
	input    input      // input for another round of the call

	Turn    *turns.Turn  // turn of the principal for the decision; nil: not limited
	Burst   *burst.Burst // other calls read together with this one, which are recorded together; nil: decided alone
	Headers http.Header  // HTTP headers that must mirror arguments; nil: not checked

	admitting    admission.Call   // Gate is set with the tool; see [Call.admission]
	approved     *rounds.Approved // members that a person approved; nil: no person was asked
	trace        *callTrace       // nil: not observed
	emulatesTask bool             // the server runs the call as a task without the client's knowledge

	// ctx ends when the client stops waiting for the call. Bind sets it.
	ctx     context.Context //nolint:containedctx // shared by all goroutines of the call
	parent  context.Context //nolint:containedctx // parent of ctx
	Spawn   func(func())    // runs work that can block, off the goroutine that reads the client's messages
	spawned func()          // work given to Spawn for the goroutine that waits for the call; nil: none
	outbox  *session.Outbox // notifications for the goroutine that waits for the call; nil: written at once

	callState

	size      int         // size of the message in the backlog
	inBacklog atomic.Bool // the backlog counts the message
	reserved  atomic.Bool // the call has a slot among those in flight to its server
	taskPlace atomic.Bool // the call has a slot among the tasks of its session
}

// Serve routes a call through admission and forwards it if it is admitted; the server's reply
// arrives at [inflightCall.finish]. The order is a security property: nothing is sent before the
// decision is on record. Serve runs on the goroutine that reads the client's messages and never
// blocks there: a step that has to wait spawns the rest of the call.
func (p *Pipeline) Serve(c *Call) {
	if c.Method == spec.CallTool {
		p.Came(c.params.Name)
	}
	for _, step := range [...]func(*Call) (next bool){
		p.resolve,    // the tool, waiting for servers that start; check the headers that mirror its arguments
		p.place,      // the connection that serves the session
		p.resume,     // another round of a call that was admitted before: it continues without a new decision
		p.admissible, // task mode, server up, decision recordable, within the limits: spend nothing in vain
	} {
		if !step(c) { // the step has answered the call, or calls Serve again after its wait
			return
		}
	}
	d := &decided{call: c, pending: p.decide(c)}
	if !c.Burst.Add(d) {
		c.yield()
		p.proceed(c, d.pending.Wait())
	}
}

// yield lets other runnable goroutines run first if many calls are in flight to a server over HTTP,
// each on a goroutine of its own: then their records are written together.
func (c *Call) yield() {
	if u := c.Tool.Upstream; !u.OneReader() && u.InFlight.Len() >= burst.Several {
		runtime.Gosched()
	}
}

// decided is a call with a decision that is not on record yet. It is a [burst.Step].
type decided struct {
	call    *Call
	pending *admission.Pending
}

// GoOn continues the call once the decision is on record.
func (d *decided) GoOn() {
	c := d.call
	defer c.pipeline.Life.Recovered(c.Method, c.ID, c.Stream)
	c.pipeline.proceed(c, d.pending.Wait())
}

// proceed carries out the decision d.
func (p *Pipeline) proceed(c *Call, d admission.Decision) {
	switch d := d.(type) {
	case *admission.Admitted: // the decision is on record
		p.Advertiser.Touch(c.State)
		p.forward(c, d.Pass())
	case *admission.Refused:
		c.release()
		c.refuse(d)
	case *admission.Asked:
		c.release()                         // only running calls occupy a slot
		c.uncountWaiting()                  // the approval broker counts the call from now on
		c.Spawn(func() { p.approve(c, d) }) // ends in forward or in an answer
	}
}

// decide stages the decision of the gate once the call has its turn.
func (p *Pipeline) decide(c *Call) *admission.Pending {
	c.Turn.Take(nil)
	defer c.Turn.Leave()
	return p.Admission.Stage(c.trace.context(p.Life.Ctx), c.admission())
}

// admission returns the call in the form that is decided and recorded.
func (c *Call) admission() *admission.Call {
	c.admitting = admission.Call{
		Key: c.State.Key(), Gate: c.admitting.Gate, Offered: c.pipeline.Pool.Catalogue.Load().Calls,
		Client: c.Peer.Name, ID: c.ID, Upstream: c.Tool.Upstream.Config.Name,
		Tool: c.recordedName(), Method: c.Method, Canonical: c.Tool.Canonical, Digest: c.digest,
	}
	if c.params.HasState && c.Peer.Rev.InputRequired && !c.input.ours {
		c.admitting.Invalid = seal.ErrState
	}
	return &c.admitting
}

// recordedName returns the name in the audit log: the tool's own name, or the canonical name of a
// prompt or resource.
func (c *Call) recordedName() string {
	if c.Method == spec.CallTool {
		return c.Tool.Name
	}
	return c.Tool.Canonical
}

// RecordRefusal records a refusal that was not caused by a net. The call is refused even if
// recording fails.
func (p *Pipeline) RecordRefusal(c *Call, r refusal) {
	p.Admission.Refused(p.Life.Ctx, c.admission(), r.Refused)
}

// dropMessage drops the message of a sent call: its arguments can be large, and a client or server
// that does not answer would make the proxy keep them. The digest of the arguments stays if the
// call can have further rounds.
func (c *Call) dropMessage() {
	c.uncountWaiting()
	if c.Peer.Rev.InputRequired {
		c.digest = c.argumentsDigest()
	}
	c.params, c.input.responses = c.params.Sent(), nil
	c.admitting.Gate = gate.Call{Time: c.admitting.Gate.Time}
}

// argumentsDigest returns the SHA-256 of the arguments.
func (c *Call) argumentsDigest() string {
	if c.digest != "" {
		return c.digest
	}
	return wire.Digest(c.params.Arguments)
}

// Cancel ends a call whose client sent notifications/cancelled or disconnected. A call that is not
// sent yet is never sent.
func (c *Call) Cancel(reason error) {
	stop, f := c.cancelled(reason)
	if stop != nil {
		stop(reason)
	}
	if f != nil {
		f.Abandon(reason)
	}
}

// Bind derives the context of the call from parent, unless it is derived from parent already.
func (c *Call) Bind(parent context.Context) {
	if c.parent == parent {
		return
	}
	ctx, stop := context.WithCancelCause(parent)
	c.parent, c.ctx = parent, ctx
	c.setStop(stop)
}

// spawnFromReply runs f, which can block, off the goroutine that reads the server's replies: on the
// goroutine that waits for the call, if one does, and otherwise on a goroutine of its own.
func (c *Call) spawnFromReply(f func()) {
	c.Bind(c.pipeline.Life.Ctx)
	if c.hasWaiter() {
		f()
		return
	}
	c.pipeline.Life.Background(func() {
		defer c.pipeline.Life.Recovered(c.Method, c.ID, c.Stream)
		f()
	})
}
