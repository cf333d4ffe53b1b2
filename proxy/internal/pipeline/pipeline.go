package pipeline

import (
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/proxy/internal/advertise"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/quota"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// Options holds the settings of a [Pipeline] and the other parts of the proxy that it uses.
type Options struct {
	Life         *lifetime.Lifetime
	Sessions     *session.Sessions
	Admission    *admission.Admission
	Approval     Approval
	Approvals    *approval.Broker
	Sealer       *seal.Sealer
	Rounds       *rounds.Keeper // stores suspended calls for all replicas; nil if only this process serves the clients
	Pool         *pool.Pool
	Advertiser   *advertise.Advertiser // tells clients when their tools change; nil if all clients see the same tools
	Tasks        *tasks.Tasks
	Reverse      *reverse.Reverse
	Relay        *relay.Relay
	MaxRequest   int                        // maximum size of a client's message in bytes
	StartupLimit time.Duration              // how long a call may wait for a server to start
	Where        func(gate.Position) string // formats a file position for display
	Came         func(tool string)          // called with the client's name for the tool when a tools/call arrives
}

// Approval configures how people are asked to approve calls. Hold and Page must not be nil.
type Approval struct {
	Hold   func(client string) time.Duration // how long a call from the named client waits for an answer before the client is told to call again
	Expire time.Duration                     // time limit for answering a question, and for using an approval
	Verb   string                            // command for answering an approval, as shown to operators in the log
	Page   func(id string) string            // returns the URL of the approval page, or "" if the page is unavailable

	// Asked is called once for each approval request, when the first call starts to wait for it.
	// Answered is called each time a person's answer to an approval request has been accepted. Both
	// may be nil. They must not block and must be safe for concurrent use.
	Asked, Answered func(approval.Record)
}

// A Pipeline takes calls (tools/call, prompts/get and resources/read) through admission to their
// servers and returns the results to the clients. It is safe for concurrent use.
type Pipeline struct {
	Options
	suspended suspendedCalls
	backlog   quota.Quota // counts the bytes of waiting calls, per principal
}

// New returns a Pipeline that serves no calls yet.
func New(o Options) *Pipeline { return &Pipeline{Options: o} }

// maxSuspended is the maximum number of calls that wait for their clients' input.
const maxSuspended = 10_000

// A suspendedCall is a call that waits for its client's input (2026-07-28). The client has received
// an InputRequiredResult and will send the call again with the responses. Until then, the gate
// treats the call as open. If other processes can continue the call, it is stored in
// [Options.Rounds]. Otherwise, it is stored in [suspendedCalls].
type suspendedCall struct {
	id     string
	ticket *admission.Ticket
	call   *Call // the call that was sent to the server; nil if the call is stored in [Options.Rounds]

	approved *rounds.Approved // describes the params, except for the arguments, that a person has approved; nil if no person was asked

	// inflight and asked are set only for a server that uses revision 2025-11-25, because such a
	// server waits for the responses to its requests.
	inflight *inflightCall
	asked    map[string]*upstream.ServerRequest // the server's requests, keyed as in inputRequests

	timer *time.Timer
}

// suspendedCalls is the table of suspended calls. A call is removed when its client sends it again
// or when its lifetime ends. mu guards byID.
type suspendedCalls struct {
	mu    sync.Mutex
	byID  map[string]*suspendedCall
	quota quota.Quota
}

// add stores the suspended call x. If x is still stored at the end of the given lifetime, it is
// removed and passed to expired. add returns false if too many calls are suspended. If several
// principals share the proxy, each of them has its own limit, too.
func (s *suspendedCalls) add(x *suspendedCall, several bool, life time.Duration, expired func(*suspendedCall)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.quota.Take(x.call.Client.Principal, maxSuspended, several); !ok {
		return false
	}
	if s.byID == nil {
		s.byID = map[string]*suspendedCall{}
	}
	s.byID[x.id] = x
	x.timer = time.AfterFunc(life, func() {
		if s.take(x.id) != nil {
			expired(x)
		}
	})
	return true
}

// take ends a suspension and returns the suspended call, or nil if the suspension has already
// ended.
func (s *suspendedCalls) take(id string) *suspendedCall {
	s.mu.Lock()
	x := s.byID[id]
	delete(s.byID, id)
	s.mu.Unlock()
	if x != nil {
		s.quota.Give(x.call.Client.Principal, 1)
		x.timer.Stop()
	}
	return x
}
