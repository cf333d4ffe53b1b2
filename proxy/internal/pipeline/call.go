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

// A Call is one tools/call, prompts/get or resources/read on its way. The arguments that
// the gate decides on, that a person is shown and that the server gets all come from the
// one parse of its message.
type Call struct {
	pipeline *Pipeline
	Client   *session.Client
	State    *session.Session // whose nets decide
	Stream   spec.Stream
	Peer     session.Peer
	Method   string
	ID       []byte    // as the client wrote it
	params   wire.Call // without the arguments once the call is sent
	digest   string    // of the arguments, once the call is sent, for further rounds; empty: there are none
	Meta     wire.Meta
	Tool     *pool.Tool // nil until it is resolved
	placed   bool       // Tool.Upstream is the connection that serves the session
	input    input      // of another round

	Turn    *turns.Turn  // for the decision; nil: there is nothing to wait for
	Burst   *burst.Burst // with others of which it is decided; nil: alone
	Headers http.Header  // that have to mirror arguments; nil: none

	admitting    admission.Call   // its Gate is set with the tool; see [Call.admission]
	approved     *rounds.Approved // what a person approved; nil: no person was asked
	trace        *callTrace       // nil: nobody observes the call
	emulatesTask bool             // the server runs the call as a task, and the client does not know

	// ctx ends when nobody waits for the call any more. It is set by Bind.
	ctx    context.Context //nolint:containedctx // the call is what it would be passed with
	parent context.Context //nolint:containedctx // that ctx is derived from
	Spawn  func(func())    // runs what may wait, off the goroutine that reads the client's messages
	rest   func()          // what Spawn was given, for the goroutine of the client; nil: nothing
	outbox *session.Outbox // for the goroutine of the client; nil: notifications are written at once

	callState

	size      int         // of the message, as the backlog counts it
	held      atomic.Bool // the backlog counts the message
	reserved  atomic.Bool // the call has a place among those under way at its server
	taskPlace atomic.Bool // the call has a place among the tasks of its session
}

// Serve takes a call through the gate, and forwards it where it may run; the reply of the
// server comes to [inflightCall.finish]. The order is a security property: nothing is sent
// before the decision is on record. Serve runs on the goroutine that reads the client's
// messages and never waits there: a step that has to wait spawns the rest of the call.
func (p *Pipeline) Serve(c *Call) {
	if c.Method == spec.CallTool {
		p.Came(c.params.Name)
	}
	for _, step := range [...]func(*Call) (next bool){
		p.resolve,    // the tool, whose server may still be starting; headers mirror its arguments
		p.place,      // the call at the connection that serves its session
		p.resume,     // another round of a call that has passed the gate, which ends here
		p.admissible, // task mode, server up, decision recordable, room: nothing is spent in vain
	} {
		if !step(c) { // it has answered the call, or calls Serve again when it has waited
			return
		}
	}
	d := &decided{call: c, pending: p.decide(c)}
	if !c.Burst.Add(d) {
		c.yield()
		p.proceed(c, d.pending.Wait())
	}
}

// yield lets goroutines that are ready run first where many calls are in flight to a server
// over HTTP, each on a goroutine of its own: their records are stored together then.
func (c *Call) yield() {
	if u := c.Tool.Upstream; !u.OneReader() && u.InFlight.Len() >= burst.Several {
		runtime.Gosched()
	}
}

// decided is a call on which the gate has decided, which is not on record yet.
type decided struct {
	call    *Call
	pending *admission.Pending
}

// GoOn goes on with the call once the decision is on record.
func (d *decided) GoOn() {
	c := d.call
	defer c.pipeline.Life.Recovered(c.Method, c.ID, c.Stream)
	c.pipeline.proceed(c, d.pending.Wait())
}

// proceed does what was decided.
func (p *Pipeline) proceed(c *Call, d admission.Decision) {
	switch d := d.(type) {
	case *admission.Admitted: // on record
		p.Advertiser.Touch(c.State)
		p.forward(c, d.Pass())
	case *admission.Refused:
		c.release()
		c.refuse(d)
	case *admission.Asked:
		c.release()                         // a place is for a call that runs
		c.unhold()                          // the broker of approvals counts the call
		c.Spawn(func() { p.approve(c, d) }) // ends in forward or in an answer
	}
}

// decide asks the gate, when it is the turn of the call.
func (p *Pipeline) decide(c *Call) *admission.Pending {
	c.Turn.Take(nil)
	defer c.Turn.Leave()
	return p.Admission.Stage(c.trace.context(p.Life.Ctx), c.admission())
}

// admission returns the call as it is decided and recorded.
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

// recordedName returns the name of the tool in the audit log; of a prompt or resource,
// its canonical name.
func (c *Call) recordedName() string {
	if c.Method == spec.CallTool {
		return c.Tool.Name
	}
	return c.Tool.Canonical
}

// RecordRefusal records a refusal that no net is the cause of. The call is refused even
// where that fails.
func (p *Pipeline) RecordRefusal(c *Call, r refusal) {
	p.Admission.Refused(p.Life.Ctx, c.admission(), r.Refused)
}

// dropMessage forgets the message of a call that is sent: its arguments may be large, and
// a client or server that does not answer would make the proxy keep them. Their digest stays
// where the call may have further rounds.
func (c *Call) dropMessage() {
	c.unhold()
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

// Cancel ends a call whose client has sent notifications/cancelled, or is gone. A call
// that was not sent yet never is.
func (c *Call) Cancel(reason error) {
	stop, f := c.cancelled(reason)
	if stop != nil {
		stop(reason)
	}
	if f != nil {
		f.Abandon(reason)
	}
}

// Bind derives the context of the call from parent, if it is not of that yet.
func (c *Call) Bind(parent context.Context) {
	if c.parent == parent {
		return
	}
	ctx, stop := context.WithCancelCause(parent)
	c.parent, c.ctx = parent, ctx
	c.stopBy(stop)
}

// spawnFromReply runs f, which may wait, off the goroutine that reads the replies of the
// server: on the goroutine of the client where that waits for the call, and else on one of
// its own.
func (c *Call) spawnFromReply(f func()) {
	c.Bind(c.pipeline.Life.Ctx)
	if c.waitsHere() {
		f()
		return
	}
	c.pipeline.Life.Background(func() {
		defer c.pipeline.Life.Recovered(c.Method, c.ID, c.Stream)
		f()
	})
}
