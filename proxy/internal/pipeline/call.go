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

// A Call is a tools/call, prompts/get or resources/read request, from its arrival to its answer.
// The message is parsed only once, so the gate, the person who approves, and the server all see the
// same arguments.
type Call struct {
	pipeline *Pipeline
	Client   *session.Client
	State    *session.Session // session whose nets decide on the call
	Stream   spec.Stream
	Peer     session.Peer
	Method   string
	ID       []byte    // JSON-RPC ID as written by the client
	params   wire.Call // parsed params; once the call has been sent, without the arguments
	digest   string    // digest of the sent arguments, for further rounds; empty: no further rounds
	Meta     wire.Meta
	Tool     *pool.Tool // nil until resolved
	recorded string     // name in the audit log: the tool's own name, or the canonical name of a prompt or resource
	placed   bool       // Tool.Upstream is the connection that serves this session
	plain    bool       // one request with one reply: no task, and neither the client's nor the server's revision has further rounds
	input    input      // input that the client sends in another round

	Turn    *turns.Turn  // principal's turn to have a call decided; nil: not limited
	Burst   *burst.Burst // calls that were read together and are recorded together; nil: this call is decided alone
	Headers http.Header  // HTTP headers that must mirror arguments; nil: not checked

	admitting    admission.Call   // Gate is set together with Tool; see [Call.admission]
	approved     *rounds.Approved // members that a person approved; nil: no person was asked
	trace        *callTrace       // nil: not observed
	emulatesTask bool             // the server runs the call as a task that the client does not know about

	// ctx ends when the client stops waiting for the call. It is set by Bind.
	ctx     context.Context //nolint:containedctx // shared by all goroutines of the call
	parent  context.Context //nolint:containedctx // parent of ctx
	Spawn   func(func())    // runs work that may block, away from the goroutine that reads the client's messages
	spawned func()          // work that Spawn received for the goroutine waiting for the call; nil: none
	outbox  *session.Outbox // notifications for the goroutine waiting for the call; nil: they are written immediately

	callState

	size   int           // bytes that the call occupies in the backlog
	claims atomic.Uint32 // set of claims that the call holds
}

// A callState is the state of a call: which goroutine is waiting for its answer, and whether it is
// in flight, canceled or answered. The zero value is a call that has not been sent. mu guards the
// fields.
type callState struct {
	mu        sync.Mutex
	completed chan *completion // receives completions for the goroutine that is waiting for the call; nil: no goroutine is waiting
	stopped   error            // why the client stopped waiting
	stop      context.CancelCauseFunc
	inflight  *inflightCall
	ended     bool // the call is answered, or will get no answer
}

// startWaiting makes the calling goroutine wait for the call's completions.
func (s *callState) startWaiting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completed = make(chan *completion, 2)
}

// hasWaiter reports whether a goroutine is waiting for the call's completions.
func (s *callState) hasWaiter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.completed != nil
}

// sendToWaiter sends a completion to the goroutine that is waiting for the call. It reports false
// if no goroutine is waiting.
func (s *callState) sendToWaiter(done completion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.completed == nil {
		return false
	}
	s.completed <- &done // never blocks, because a call runs only one round at a time
	return true
}

// completions returns the channel for the next completion, or nil if there will be none.
func (s *callState) completions() <-chan *completion {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inflight == nil && len(s.completed) == 0 {
		return nil
	}
	return s.completed
}

// hasRoundAfter reports whether a later round than that of done is in flight.
func (s *callState) hasRoundAfter(done completion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && s.inflight != nil && s.inflight != done.inflight
}

// detach makes the goroutine that is waiting for the call stop waiting. Later completions are
// handled on the goroutines that read them.
func (s *callState) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.completed != nil {
		close(s.completed)
		s.completed = nil
	}
}

// setInflight makes f the request in flight, unless the call was canceled. In that case it returns
// the reason in stopped. inline reports whether the goroutine that is waiting for the call should
// send the request and read the reply itself: it should if there is one and reads is true.
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

// replaceInflight makes f, which was sent in an earlier round, this round's request in flight. It
// returns the reason why the call was canceled, or nil.
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
// context and the request in flight. Both can be nil.
func (s *callState) cancelled(reason error) (context.CancelCauseFunc, *inflightCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.stopped = reason
	}
	return s.stop, s.inflight
}

// setStop sets the function to call on cancellation. If the call has already been canceled, setStop
// calls it immediately.
func (s *callState) setStop(stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
	if s.stopped != nil {
		stop(s.stopped)
	}
}

// markAnswered marks the call as answered. first is false if the call had been answered before.
// wanted reports whether the client is still waiting for the answer.
func (s *callState) markAnswered() (first, wanted bool, stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, s.ended = !s.ended, true
	return first, s.stopped == nil || errors.Is(s.stopped, spec.ErrClosing), s.stop
}

// wanted reports whether the client is still waiting for the answer.
func (s *callState) wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped == nil || errors.Is(s.stopped, spec.ErrClosing)
}

// A completion ends one round of a call. It goes to the goroutine that is waiting for the call.
type completion struct {
	inflight *inflightCall
	reply    upstream.Reply
	settled  bool   // the gate knows the outcome
	round    []byte // InputRequiredResult instead of the reply
}

// An input is what a client sends in another round of a call (inputResponses and requestState,
// since 2026-07-28). The zero value is the input of a first round.
type input struct {
	responses []byte // the inputResponses object; nil: none
	state     string // the server's requestState
	hasState  bool
	round     int    // number of earlier rounds
	suspended string // ID of the suspendedCall; empty: none
	elsewhere bool   // another process has suspended the call
	ours      bool   // the requestState was made by the proxy or not sent
}

// admission returns the call in the form used for decisions and records.
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

// dropMessage drops the message of a sent call. Its arguments can be large, and the proxy would
// keep them for a client or server that does not answer. If the call can have further rounds,
// dropMessage keeps the digest of the arguments.
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

// argumentsDigest returns the arguments' SHA-256 digest.
func (c *Call) argumentsDigest() string {
	if c.digest != "" {
		return c.digest
	}
	return wire.Digest(c.params.Arguments)
}

// besideDigest returns the digest of the params without the name, the arguments, and _meta.
func (c *Call) besideDigest() string {
	members, _ := c.beside()
	return wire.Digest(members)
}

// beside returns the params that the server gets in addition to the name and the arguments. A
// consent does not depend on _meta, because clients may send a different _meta with each call.
// People see it, however, and the _meta that they saw is forwarded.
func (c *Call) beside() (members, meta []byte) {
	if c.Method == spec.ReadResource {
		return c.params.OtherParams("uri")
	}
	return c.params.OtherParams("name", "arguments")
}
