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

// Options are what a Pipeline uses of the rest of the proxy.
type Options struct {
	Life         *lifetime.Lifetime
	Sessions     *session.Sessions
	Admission    *admission.Admission
	Approval     Approval
	Approvals    *approval.Broker
	Sealer       *seal.Sealer
	Rounds       *rounds.Keeper // nil: no other process has the calls of this one
	Pool         *pool.Pool
	Advertiser   *advertise.Advertiser // nil: every client is shown the same tools
	Tasks        *tasks.Tasks
	Reverse      *reverse.Reverse
	Relay        *relay.Relay
	MaxRequest   int                        // bytes of one message of a client
	StartupLimit time.Duration              // how long a call waits for a server that starts
	Where        func(gate.Position) string // a position as people read it
	Came         func(tool string)          // is told of each call of a tool as it comes, by the name that its client wrote
}

// Approval says how people are asked. Its Hold and Page are not nil.
type Approval struct {
	Hold   func(client string) time.Duration // how long a call waits before it is parked, by the name of its client
	Expire time.Duration                     // how long a question and its answer are good
	Verb   string                            // what the log tells operators to run who are to answer
	Page   func(id string) string            // the URL of the page of an approval; empty: there is none

	// Asked is told of each request when the first call begins to wait for it, and Answered
	// of each answer that counts; nil: nobody is. Both must not block, and must be safe for
	// concurrent use.
	Asked, Answered func(approval.Record)
}

// A Pipeline takes calls (tools/call, prompts/get and resources/read) through admission
// to their servers, and answers them.
type Pipeline struct {
	Options
	suspended suspendedCalls
	backlog   backlog
}

// New returns a Pipeline without calls.
func New(o Options) *Pipeline { return &Pipeline{Options: o} }
