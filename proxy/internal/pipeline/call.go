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

// A Call is a tools/call, prompts/get or resources/read request. It exists from the request's
// arrival until the client has received the response. The message is parsed only once, so that the
// gate, the person who approves the call, and the server all see the same arguments.
type Call struct {
	pipeline *Pipeline
	Client   *session.Client
	State    *session.Session // session whose nets decide on the call
	Stream   spec.Stream
	Peer     session.Peer
	Method   string
	ID       []byte    // JSON-RPC ID, as written by the client
	IDKey    string    // key of the call among the client's open requests; see [wire.IDKey]
	params   wire.Call // parsed params; the arguments are dropped once the call has been sent
	digest   string    // digest of the dropped arguments; empty if the client's revision has no InputRequiredResult
	Meta     wire.Meta
	Tool     *pool.Tool // tool of the call; nil until it has been found
	recorded string     // name in the audit log: the tool's own name, or the canonical name of a prompt or resource
	placed   bool       // whether the session's connection to the server, shared or dedicated, has been chosen
	plain    bool       // whether both sides use revisions up to 2025-11-25 and the client requests no task; if so, the reply needs no check for a task or an InputRequiredResult
	input    input      // inputResponses and requestState; set if the call is sent again

	Turn    *turns.Turn  // limits the principal's concurrent messages; nil over stdio and HTTP+SSE, or if the proxy has only one principal
	Burst   *burst.Burst // burst that holds the call back, so that several calls are recorded together; nil if the call is recorded alone
	Headers http.Header  // HTTP headers, which must mirror some of the arguments; if nil, they are not checked

	admitting    admission.Call   // the call in the form that package admission uses; setTool sets its field Gate, and the method admission sets its other fields
	approved     *rounds.Approved // params, other than the arguments, that a person has approved; nil if no person was asked
	trace        *callTrace       // reports the call's progress to the observer; nil if the call is not traced
	emulatesTask bool             // whether the server runs the call as a task without the client's knowledge

	// ctx is done when the client no longer waits for the call. Bind sets it.
	ctx     context.Context //nolint:containedctx // shared by all goroutines of the call
	parent  context.Context //nolint:containedctx // parent of ctx
	Spawn   func(func())    // runs work that may block, on a goroutine other than the one that reads the client's messages
	spawned func()          // work passed to Spawn, for the waiting goroutine to run; nil if there was no such work
	outbox  *session.Outbox // queues notifications until the waiting goroutine writes them; if nil, they are written immediately

	callState

	size   int           // bytes counted for the call while it waits
	claims atomic.Uint32 // bit set of the limited resources held by the call; see [claim]
}

// A callState is the state of a call: which goroutine waits for the response, and whether the call
// is in flight, canceled or answered. The zero value is the state of a call that has not been sent.
// mu guards the other fields.
type callState struct {
	mu        sync.Mutex
	completed chan *completion // delivers results of requests to the waiting goroutine; nil if no goroutine waits
	stopped   error            // why the client stopped waiting, or nil
	stop      context.CancelCauseFunc
	inflight  *inflightCall
	ended     bool // whether the call has ended, with or without a response
}

// startWaiting registers the calling goroutine to wait for the results of the call's requests.
func (s *callState) startWaiting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completed = make(chan *completion, 2)
}

// hasWaiter reports whether a goroutine is registered to wait for the results of the call's
// requests.
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
	s.completed <- &done // never blocks, because a call has only one request in flight at a time
	return true
}

// completions returns the channel for the next completion, or nil if no more completions will
// arrive.
func (s *callState) completions() <-chan *completion {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inflight == nil && len(s.completed) == 0 {
		return nil
	}
	return s.completed
}

// hasRoundAfter reports whether the call continues with another request to the server after the one
// that has just been completed.
func (s *callState) hasRoundAfter(done completion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && s.inflight != nil && s.inflight != done.inflight
}

// detach makes the waiting goroutine stop waiting for the call. Later completions are handled on
// the goroutines that read the server's replies.
func (s *callState) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.completed != nil {
		close(s.completed)
		s.completed = nil
	}
}

// setInflight makes f the in-flight request. If the call was canceled, it returns the reason
// instead. canRead reports whether the goroutine that sends the request can also read the reply. If
// canRead is true and a goroutine is waiting for the call, setInflight returns inline as true. The
// waiting goroutine must then send the request and read the reply.
func (s *callState) setInflight(f *inflightCall, canRead bool) (inline bool, stopped error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inline = s.completed != nil && canRead
	f.inline = inline // set before f becomes visible to other goroutines
	if s.stopped == nil {
		s.inflight = f
	}
	return inline, s.stopped
}

// replaceInflight makes f the in-flight request of the call. f was sent earlier. If f is nil, the
// call has no in-flight request afterwards. If the call was canceled, replaceInflight returns the
// reason.
func (s *callState) replaceInflight(f *inflightCall) (stopped error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inflight = f
	return s.stopped
}

// markCanceled stores the reason why the client has stopped waiting. It returns the cancel function
// of the call's context and the in-flight request; either may be nil.
func (s *callState) markCanceled(reason error) (context.CancelCauseFunc, *inflightCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.stopped = reason
	}
	return s.stop, s.inflight
}

// setStop sets the function to call when the call is canceled. If the call has already been
// canceled, setStop calls stop immediately.
func (s *callState) setStop(stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
	if s.stopped != nil {
		stop(s.stopped)
	}
}

// markAnswered marks the call as answered. It reports whether it was called for the first time, and
// whether the client is still waiting for the response. It also returns the cancel function of the
// call's context, which may be nil.
func (s *callState) markAnswered() (first, wanted bool, stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, s.ended = !s.ended, true
	return first, s.stopped == nil || errors.Is(s.stopped, spec.ErrClosing), s.stop
}

// isWanted reports whether the client is still waiting for the response.
func (s *callState) isWanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped == nil || errors.Is(s.stopped, spec.ErrClosing)
}

// A completion is the result of a request to the server, sent to the goroutine that waits for the
// call. It contains the server's reply, or an InputRequiredResult for the client.
type completion struct {
	inflight *inflightCall
	reply    upstream.Reply
	settled  bool   // whether the outcome has been reported to the gate
	round    []byte // InputRequiredResult for the client; if nil, the reply is sent
}

// An input holds the inputResponses and the requestState of a call that is sent again. In revision
// 2026-07-28, the client sends the call again. For a client of an earlier revision, the proxy asks
// the client and sends the call again itself. The zero value holds no input.
type input struct {
	responses []byte // the inputResponses object; nil if none
	state     string // the server's own requestState
	hasState  bool
	round     int    // number of times that the client has been asked for input
	suspended string // ID of the suspended call; empty if none
	elsewhere bool   // whether another process suspended the call
	ours      bool   // whether the call has no requestState, or has one that the proxy created for this call or for an approval
}

// admission returns the call in the form used for decisions and audit records.
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

// dropMessage releases the memory of the call's message once the call has been sent. Otherwise,
// large arguments would stay in memory if the server or client never responds. If the client may
// send the call again with input, dropMessage keeps the digest of the arguments.
func (c *Call) dropMessage() {
	if c.claims.Load() != 0 {
		c.release(room)
	}
	if c.Peer.Rev.InputRequired {
		c.digest = c.argumentsDigest()
	}
	sent := wire.Call{Name: c.params.Name, HasState: c.params.HasState}
	if c.params.Task != nil {
		sent.Task = []byte(`{}`) // the client asked for a task
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

// otherParamsDigest returns a digest of the params, excluding the name, the arguments and _meta.
func (c *Call) otherParamsDigest() string {
	members, _ := c.otherParams()
	return wire.Digest(members)
}

// otherParams returns the params other than the name and the arguments. It returns _meta separately
// from the rest. An approval does not depend on _meta, because clients may send a different _meta
// with each call. The _meta is still shown to people, and the proxy forwards exactly the _meta that
// they have seen.
func (c *Call) otherParams() (members, meta []byte) {
	if c.Method == spec.ReadResource {
		return c.params.OtherParams("uri")
	}
	return c.params.OtherParams("name", "arguments")
}

// wantsTask reports whether the client expects a task (params.task in revision 2025-11-25). Such a
// client cannot read a refusal in the form of a tool result.
func (c *Call) wantsTask() bool { return c.params.Task != nil && c.Method == spec.CallTool }

// mustSendAsTask reports whether the proxy must send the call as a task although the client cannot
// request one. This is the case if the client uses revision 2026-07-28, the server uses revision
// 2025-11-25, and the server runs the tool only as a task.
func (c *Call) mustSendAsTask() bool {
	u := c.Tool.Upstream
	return c.Method == spec.CallTool && c.Peer.Rev.TaskExtension && c.Tool.OnlyTask && !u.Rev().TaskExtension && tasks.MakesTasks(u)
}
