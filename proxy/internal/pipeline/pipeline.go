package pipeline

import (
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/proxy/internal/advertise"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// Options are the parts of the proxy that a Pipeline uses.
type Options struct {
	Life         *lifetime.Lifetime
	Sessions     *session.Sessions
	Admission    *admission.Admission
	Approval     Approval
	Approvals    *approval.Broker
	Sealer       *seal.Sealer
	Rounds       *rounds.Keeper // stores suspended calls for all replicas; nil: only this process serves the clients
	Pool         *pool.Pool
	Advertiser   *advertise.Advertiser // nil: every client sees the same tools
	Tasks        *tasks.Tasks
	Reverse      *reverse.Reverse
	Relay        *relay.Relay
	MaxRequest   int                        // maximum size of a client's message in bytes
	StartupLimit time.Duration              // how long a call waits for a starting server at most
	Where        func(gate.Position) string // formats a position for people
	Came         func(tool string)          // called when a tools/call arrives, with the tool name that the client used
}

// Approval configures how people are asked. Hold and Page must not be nil.
type Approval struct {
	Hold   func(client string) time.Duration // how long a call of the named client waits before it is parked
	Expire time.Duration                     // lifetime of a question and its answer
	Verb   string                            // command that the log recommends to operators for answering
	Page   func(id string) string            // URL of the approval page; empty: no page

	// Asked is called with each request when the first call starts to wait for it. Answered is
	// called with each answer that counts. Neither may block, and both must be safe for concurrent
	// use. nil: not called.
	Asked, Answered func(approval.Record)
}

// A Pipeline takes calls (tools/call, prompts/get and resources/read) through admission to their
// servers and answers them. It is safe for concurrent use.
type Pipeline struct {
	Options
	suspended suspendedCalls
	backlog   backlog
}

// New returns a Pipeline without calls.
func New(o Options) *Pipeline { return &Pipeline{Options: o} }
