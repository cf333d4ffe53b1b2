// Package pool has the MCP servers behind the proxy: the connections that sessions
// share and those that are dedicated to one session, the tools of all servers, and the
// requests in flight to each.
package pool

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
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
	Busy    func(*Server) bool  // reports whether the server has work that no request waits for
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

// Offering lists the servers that are up and declare a capability, in the order of the
// configuration.
func (p *Pool) Offering(capability string) []*Server {
	var list []*Server
	for _, u := range p.Servers {
		if u.State().Phase == upstream.Up && u.Has(capability) {
			list = append(list, u)
		}
	}
	return list
}

// AnyCan reports whether a server that is up declares a capability with a flag set.
func (p *Pool) AnyCan(capability, flag string) bool {
	for _, u := range p.Offering(capability) {
		if u.can(capability, flag) {
			return true
		}
	}
	return false
}

// Snapshot returns the present state of a session, with the tools that can be called.
func (p *Pool) Snapshot(s *session.Session) (*gate.State, error) {
	state, err := p.Admission.Snapshot(p.Life.Ctx, s.Key())
	if err != nil {
		return nil, err
	}
	state.Tools = p.Catalogue.Load().Calls
	return state, nil
}
