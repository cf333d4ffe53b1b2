package pipeline

import (
	"context"
	"errors"
	"net/http"
	"sync"
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
	"github.com/petrigate/petrigate/proxy/internal/upstream"
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
	recorded string     // name in the audit log: the tool's own name, or the canonical name of a prompt or resource
	placed   bool       // Tool.Upstream is the connection that serves the session
	plain    bool       // one request with one reply: no task, and client and server are of revisions without further rounds
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

	size   int           // size of the message in the backlog
	claims atomic.Uint32 // set of claims that the call holds
}

// A callState is the state of a call: which goroutine waits for its answer, and whether it is in
// flight, cancelled or answered. The zero value is a call that is not sent yet. mu guards the
// fields.
type callState struct {
	mu        sync.Mutex
	completed chan *completion // completions for the goroutine that waits for the call; nil: no goroutine waits
	stopped   error            // why the client stopped waiting
	stop      context.CancelCauseFunc
	inflight  *inflightCall
	ended     bool // the call is answered, or will get no answer
}

// startWaiting makes the calling goroutine the one that waits for the completions of the call.
func (s *callState) startWaiting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completed = make(chan *completion, 2)
}

// hasWaiter reports whether a goroutine waits for the completions of the call.
func (s *callState) hasWaiter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.completed != nil
}

// sendToWaiter sends a completion to the goroutine that waits for the call. It reports false if no
// goroutine waits.
func (s *callState) sendToWaiter(done completion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.completed == nil {
		return false
	}
	s.completed <- &done // never blocks: only one round of a call runs at a time
	return true
}

// completions returns the channel of the next completion, or nil if no completion will come.
func (s *callState) completions() <-chan *completion {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inflight == nil && len(s.completed) == 0 {
		return nil
	}
	return s.completed
}

// hasRoundAfter reports whether another round of the call is in flight after done.
func (s *callState) hasRoundAfter(done completion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && s.inflight != nil && s.inflight != done.inflight
}

// detach ends the wait of the goroutine that waits for the call. Later completions are handled on
// the goroutine that reads them.
func (s *callState) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.completed != nil {
		close(s.completed)
		s.completed = nil
	}
}

// setInflight makes f the request in flight. If the call was cancelled, it does not, and returns
// the reason as stopped. inline reports whether the goroutine that waits for the call sends the
// request and reads the reply itself; it does if one waits and reads is true.
func (s *callState) setInflight(f *inflightCall, reads bool) (inline bool, stopped error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inline = s.completed != nil && reads
	f.inline = inline // before other goroutines can see f
	if s.stopped == nil {
		s.inflight = f
	}
	return inline, s.stopped
}

// replaceInflight makes f, which was sent in an earlier round, the request in flight of this round.
// It returns why the call was cancelled, or nil.
func (s *callState) replaceInflight(f *inflightCall) (stopped error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inflight = f
	return s.stopped
}

// clearInflight records that the call has no request in flight.
func (s *callState) clearInflight() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inflight = nil
}

// cancelled records why the client stopped waiting. It returns the cancel function of the call's
// context and the request in flight; both can be nil.
func (s *callState) cancelled(reason error) (context.CancelCauseFunc, *inflightCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.stopped = reason
	}
	return s.stop, s.inflight
}

// setStop sets the function that a cancellation calls, and calls it at once if the call is cancelled
// already.
func (s *callState) setStop(stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
	if s.stopped != nil {
		stop(s.stopped)
	}
}

// markAnswered marks the call as answered. first is false if it was answered before; wanted reports
// whether the client still waits for the answer.
func (s *callState) markAnswered() (first, wanted bool, stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, s.ended = !s.ended, true
	return first, s.stopped == nil || errors.Is(s.stopped, spec.ErrClosing), s.stop
}

// wanted reports whether the client still waits for the answer.
func (s *callState) wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped == nil || errors.Is(s.stopped, spec.ErrClosing)
}

// A completion ends one round of a call. It goes to the goroutine that waits for the call.
type completion struct {
	inflight *inflightCall
	reply    upstream.Reply
	settled  bool   // the gate knows the outcome
	round    []byte // InputRequiredResult instead of the reply
}

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

// admission returns the call in the form that is decided and recorded.
func (c *Call) admission() *admission.Call {
	c.admitting = admission.Call{
		Key: c.State.Key(), Gate: c.admitting.Gate, Offered: c.pipeline.Pool.Catalogue.Load().Calls,
		Client: c.Peer.Name, ID: c.ID, Upstream: c.Tool.Upstream.Config.Name,
		Tool: c.recorded, Method: c.Method, Canonical: c.Tool.Canonical, Digest: c.digest,
	}
	if c.params.HasState && c.Peer.Rev.InputRequired && !c.input.ours {
		c.admitting.Invalid = seal.ErrState
	}
	return &c.admitting
}

// dropMessage drops the message of a sent call: its arguments can be large, and a client or server
// that does not answer would make the proxy keep them. The digest of the arguments stays if the
// call can have further rounds.
func (c *Call) dropMessage() {
	if c.claims.Load() != 0 {
		c.release(room)
	}
	if c.Peer.Rev.InputRequired {
		c.digest = c.argumentsDigest()
	}
	sent := wire.Call{Name: c.params.Name, HasState: c.params.HasState}
	if c.params.Task != nil {
		sent.Task = []byte(`{}`) // the call asked for a task
	}
	c.params, c.input.responses = sent, nil
	c.admitting.Gate = gate.Call{Time: c.admitting.Gate.Time}
}

// argumentsDigest returns the SHA-256 of the arguments.
func (c *Call) argumentsDigest() string {
	if c.digest != "" {
		return c.digest
	}
	return wire.Digest(c.params.Arguments)
}

// besideDigest returns the digest of the params without the name, the arguments and _meta.
func (c *Call) besideDigest() string {
	members, _ := c.beside()
	return wire.Digest(members)
}

// beside returns the params that the server gets besides the name and the arguments. Clients can
// write another _meta into each call, so a consent does not depend on it. A person sees it, though,
// and the _meta that the person saw is forwarded.
func (c *Call) beside() (members, meta []byte) {
	if c.Method == spec.ReadResource {
		return c.params.OtherParams("uri")
	}
	return c.params.OtherParams("name", "arguments")
}
