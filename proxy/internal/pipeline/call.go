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
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/turns"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Call is a tools/call, prompts/get or resources/read request, from its arrival until it is
// answered. The message is parsed only once, so the gate, the person who approves the call, and the
// server all see the same arguments.
type Call struct {
	pipeline *Pipeline
	Client   *session.Client
	State    *session.Session // session whose nets decide the call
	Stream   spec.Stream
	Peer     session.Peer
	Method   string
	ID       []byte    // JSON-RPC ID as the client has written it
	params   wire.Call // params after parsing; without the arguments once the call has been sent
	digest   string    // digest of the arguments that were sent, for further rounds; empty: no further rounds
	Meta     wire.Meta
	Tool     *pool.Tool // nil until the tool is known
	recorded string     // name in the audit log: the tool's own name, or the canonical name of a prompt or resource
	placed   bool       // whether Tool.Upstream is the connection that serves this session
	plain    bool       // whether the call consists of one request and one reply: it creates no task, and neither the client's nor the server's revision has further rounds
	input    input      // input that the client has sent in a further round

	Turn    *turns.Turn  // the principal's turn for deciding the call; nil: turns are not limited
	Burst   *burst.Burst // calls that were read at the same time and are recorded together; nil: this call is decided alone
	Headers http.Header  // HTTP headers that must contain the same values as some arguments; nil: not checked

	admitting    admission.Call   // description of the call for admission; its Gate field is set together with Tool; see [Call.admission]
	approved     *rounds.Approved // members that a person has approved; nil: no person was asked
	trace        *callTrace       // nil: the call is not traced
	emulatesTask bool             // whether the server runs the call as a task that the client does not know about

	// ctx ends when the client no longer waits for the call. It is set by Bind.
	ctx     context.Context //nolint:containedctx // shared by all goroutines of the call
	parent  context.Context //nolint:containedctx // parent of ctx
	Spawn   func(func())    // runs work that may block, on a goroutine other than the one that reads the client's messages
	spawned func()          // work that was passed to Spawn, for the goroutine that waits for the call; nil: none
	outbox  *session.Outbox // notifications for the goroutine that waits for the call; nil: notifications are written immediately

	callState

	size   int           // bytes that the call occupies in the backlog
	claims atomic.Uint32 // the claims that the call holds, as a set of bits
}

// A callState is the state of a call: which goroutine waits for its answer, and whether the call is
// in flight, canceled or answered. The zero value is a call that has not been sent. mu guards the
// fields.
type callState struct {
	mu        sync.Mutex
	completed chan *completion // receives completions for the goroutine that waits for the call; nil: no goroutine waits
	stopped   error            // why the client stopped waiting
	stop      context.CancelCauseFunc
	inflight  *inflightCall
	ended     bool // whether the call has been answered, or will get no answer
}

// startWaiting registers the calling goroutine as the one that waits for the call's completions.
func (s *callState) startWaiting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completed = make(chan *completion, 2)
}

// hasWaiter reports whether a goroutine is registered as waiting for the call's completions.
func (s *callState) hasWaiter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.completed != nil
}

// sendToWaiter sends a completion to the goroutine that waits for the call. It returns false if no
// goroutine waits.
func (s *callState) sendToWaiter(done completion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.completed == nil {
		return false
	}
	s.completed <- &done // never blocks, because a call runs only one round at a time
	return true
}

// completions returns the channel that receives the next completion, or nil if no more completions
// will arrive.
func (s *callState) completions() <-chan *completion {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inflight == nil && len(s.completed) == 0 {
		return nil
	}
	return s.completed
}

// hasRoundAfter reports whether a round is in flight that is later than the round that done has
// completed.
func (s *callState) hasRoundAfter(done completion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && s.inflight != nil && s.inflight != done.inflight
}

// detach makes the goroutine that waits for the call stop waiting. Later completions are handled on
// the goroutines that read them.
func (s *callState) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.completed != nil {
		close(s.completed)
		s.completed = nil
	}
}

// setInflight makes f the request in flight. If the call was canceled, setInflight instead returns
// the reason in stopped. If a goroutine is waiting for the call and reads is true, the result
// inline is true: that goroutine must then send the request and read the reply itself.
func (s *callState) setInflight(f *inflightCall, reads bool) (inline bool, stopped error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inline = s.completed != nil && reads
	f.inline = inline // set before other goroutines can see f
	if s.stopped == nil {
		s.inflight = f
	}
	return inline, s.stopped
}

// replaceInflight makes f the request in flight for this round, although f was sent in an earlier
// round. If f is nil, the round has no request in flight. If the call was canceled, replaceInflight
// returns the reason; otherwise, it returns nil.
func (s *callState) replaceInflight(f *inflightCall) (stopped error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inflight = f
	return s.stopped
}

// cancelled records why the client has stopped waiting. It returns the cancel function of the
// call's context, and the request in flight; either may be nil.
func (s *callState) cancelled(reason error) (context.CancelCauseFunc, *inflightCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.stopped = reason
	}
	return s.stop, s.inflight
}

// setStop sets the function that is called when the call is canceled. If the call has already been
// canceled, setStop calls the function immediately.
func (s *callState) setStop(stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
	if s.stopped != nil {
		stop(s.stopped)
	}
}

// markAnswered marks the call as answered. The result first is false if the call was already
// answered. The result wanted reports whether the client is still waiting for the answer.
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

// A completion ends one round of a call. It is sent to the goroutine that waits for the call.
type completion struct {
	inflight *inflightCall
	reply    upstream.Reply
	settled  bool   // whether the outcome has been reported to the gate
	round    []byte // an InputRequiredResult that takes the place of the reply
}

// An input is what a client sends in a further round of a call (inputResponses and requestState,
// since revision 2026-07-28). The zero value is the input of a first round.
type input struct {
	responses []byte // the object inputResponses; nil: none
	state     string // requestState that the server has sent
	hasState  bool
	round     int    // number of earlier rounds
	suspended string // ID of the suspended call; empty: none
	elsewhere bool   // whether the call was suspended by another process
	ours      bool   // whether the proxy created the requestState, or the client sent none
}

// admission returns the call in the form that is used for decisions and records.
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

// dropMessage drops the message of a call that has been sent. The message's arguments can be large,
// and the proxy would otherwise keep them for a client or server that does not answer. If the call
// can have further rounds, dropMessage keeps the digest of the arguments.
func (c *Call) dropMessage() {
	if c.claims.Load() != 0 {
		c.release(room)
	}
	if c.Peer.Rev.InputRequired {
		c.digest = c.argumentsDigest()
	}
	sent := wire.Call{Name: c.params.Name, HasState: c.params.HasState}
	if c.params.Task != nil {
		sent.Task = []byte(`{}`) // the client has asked for a task
	}
	c.params, c.input.responses = sent, nil
	c.admitting.Gate = gate.Call{Time: c.admitting.Gate.Time}
}

// argumentsDigest returns the SHA-256 digest of the arguments.
func (c *Call) argumentsDigest() string {
	if c.digest != "" {
		return c.digest
	}
	return wire.Digest(c.params.Arguments)
}

// besideDigest returns a digest of the params without the name, the arguments and _meta.
func (c *Call) besideDigest() string {
	members, _ := c.beside()
	return wire.Digest(members)
}

// beside returns the params that are sent to the server in addition to the name and the arguments.
// A consent does not depend on _meta, because clients may send a different _meta with each call.
// Nevertheless, people see the _meta, and the proxy forwards exactly the _meta that they have seen.
func (c *Call) beside() (members, meta []byte) {
	if c.Method == spec.ReadResource {
		return c.params.OtherParams("uri")
	}
	return c.params.OtherParams("name", "arguments")
}

// asTask reports whether the client expects a task as the answer (params.task in revision
// 2025-11-25). Such a client cannot read a refusal that is a tool result.
func (c *Call) asTask() bool { return c.params.Task != nil && c.Method == spec.CallTool }

// asTaskAnyway reports whether the call must be sent as a task although the client cannot request
// one: the client uses revision 2026-07-28, and the server uses revision 2025-11-25 and runs the
// tool only as a task.
func (c *Call) asTaskAnyway() bool {
	u := c.Tool.Upstream
	return c.Method == spec.CallTool && c.Peer.Rev.TaskExtension && c.Tool.OnlyTask && !u.Rev().TaskExtension && tasks.MakesTasks(u)
}
