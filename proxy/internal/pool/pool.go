package pool

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// Options says what a pool needs of the rest of the proxy.
type Options struct {
	Life         *lifetime.Lifetime
	Sessions     *session.Sessions
	Admission    *admission.Admission
	Startup      context.Context //nolint:containedctx // ends when lists no longer wait for servers that start
	StartupLimit time.Duration   // how long a request waits for a server that starts

	Connect func(*Server)       // makes the connection of a server
	Ended   func(*Server)       // is told of a dedicated connection that has ended
	Changed func(method string) // tells clients of a list that has changed
	Busy    func(*Server) bool  // whether the server works at something that no request waits for
}

// A Pool has the servers of the proxy: the connections that sessions share, those that
// are dedicated to one session, and the tools of all.
type Pool struct {
	Options
	Servers   []*Server // the shared connections
	Catalogue *Catalogue
}

// New returns a pool without servers.
func New(o Options) *Pool { return &Pool{Options: o} }
