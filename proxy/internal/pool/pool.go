// Package pool manages the MCP servers behind the proxy: their connections, their tools, and the
// requests in flight to each.
//
// A [Pool] has one shared [Server] per configured [Upstream]. A session can instead get a dedicated
// Server, with a process or an HTTP session of its own; the shared Server's placement maps each
// session to its connection ([Pool.Place]). The [Catalogue] holds the tools of all servers and
// publishes them as an immutable [ToolView]. [Pool.Relist] asks a server for its tools in the
// background, one listing at a time per server. A [RelayedRequest] is a request of a client that
// goes to one server without a decision of the gate.
//
// # Goroutines
//
// Each Server has one goroutine in [Pool.Sweep], which abandons requests that have timed out; a
// dedicated Server ends there after a time without use. Listings run on goroutines of their own
// ([lifetime.Lifetime.Background]).
//
// # Locks
//
// Each lock guards only the fields of its own type. placement.mu is held while a dedicated
// connection starts, which does not block. relisting.running is held during a whole listing and
// taken before Catalogue.mu. The queue's lock also guards the positions (QueuePlace) of the
// requests in it.
//
// # Invariants
//
// A call (tools/call, prompts/get, resources/read) is sent only with a pass of the admission:
// [Server.Send] refuses it without [upstream.Request.Again], which only package pipeline sets. If
// several tools have the same exposed name, none of them can be called.
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

// Options are the parts of the proxy that a Pool uses.
type Options struct {
	Life         *lifetime.Lifetime
	Sessions     *session.Sessions
	Admission    *admission.Admission
	Startup      context.Context //nolint:containedctx // ends when lists no longer wait for servers that start
	StartupLimit time.Duration   // maximum wait of a request for a starting server

	Connect func(*Server)       // sets up the connection of a server
	Ended   func(*Server)       // called with a dedicated connection that has ended
	Changed func(method string) // notifies clients of a changed list
	Busy    func(*Server) bool  // reports whether the server has work without a waiting request
}

// A Pool manages the connections to all servers and the table of their tools.
type Pool struct {
	Options
	Servers   []*Server // shared connections, in the order of the configuration
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

// Snapshot returns the current state of a session, with the tools that can be called.
func (p *Pool) Snapshot(s *session.Session) (*gate.State, error) {
	state, err := p.Admission.Snapshot(p.Life.Ctx, s.Key())
	if err != nil {
		return nil, err
	}
	state.Tools = p.Catalogue.Load().Calls
	return state, nil
}
