package pipeline

import (
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/approval"
	"github.com/petrigate/petrigate/proxy/internal/advertise"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// Options says what a Pipeline needs of the rest of the proxy.
type Options struct {
	Life         *lifetime.Lifetime
	Sessions     *session.Sessions
	Admission    *admission.Admission
	Approval     Approval
	Approvals    *approval.Broker
	Sealer       *seal.Sealer
	Pool         *pool.Pool
	Advertiser   *advertise.Advertiser // nil: every client is shown the same tools
	Tasks        *tasks.Tasks
	Reverse      *reverse.Reverse
	Relay        *relay.Relay
	MaxRequest   int                        // bytes of one message of a client
	StartupLimit time.Duration              // how long a call waits for a server that starts
	Where        func(gate.Position) string // a position as people read it
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
