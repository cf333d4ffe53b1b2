package pipeline

import (
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
)

// Options contains the parts of the proxy that a [Pipeline] uses.
type Options struct {
	Life         *lifetime.Lifetime
	Sessions     *session.Sessions
	Admission    *admission.Admission
	Approval     Approval
	Approvals    *approval.Broker
	Sealer       *seal.Sealer
	Rounds       *rounds.Keeper // stores suspended calls for all replicas; nil: the clients are served only by this process
	Pool         *pool.Pool
	Advertiser   *advertise.Advertiser // nil: all clients see the same tools
	Tasks        *tasks.Tasks
	Reverse      *reverse.Reverse
	Relay        *relay.Relay
	MaxRequest   int                        // maximum size of a client's message in bytes
	StartupLimit time.Duration              // maximum time that a call waits for a server to start
	Where        func(gate.Position) string // formats a position in a file for people
	Came         func(tool string)          // called when a tools/call arrives, with the tool name that the client has used
}

// Approval configures how people are asked. Hold and Page must not be nil.
type Approval struct {
	Hold   func(client string) time.Duration // how long a call of the client with this name waits before it is parked
	Expire time.Duration                     // lifetime of a question and of its answer
	Verb   string                            // command for answering that the log shows to operators
	Page   func(id string) string            // returns the URL of the approval page; empty: no page

	// Asked is called with each request when the first call starts to wait for it. Answered is
	// called with each answer that counts. They must not block, and must be safe for concurrent
	// use. nil: not called.
	Asked, Answered func(approval.Record)
}

// A Pipeline takes calls (tools/call, prompts/get and resources/read) through admission to their
// servers and answers them. It is safe for concurrent use.
type Pipeline struct {
	Options
	suspended suspendedCalls
	backlog   quota.Quota // bytes of the waiting calls of each principal
}

// New returns a Pipeline that has no calls yet.
func New(o Options) *Pipeline { return &Pipeline{Options: o} }
