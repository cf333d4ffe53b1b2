// Package pool manages the MCP servers behind the proxy: their connections, their tools, and the
// requests in flight to each server.
//
// A [Pool] has one shared [Server] for each configured [Upstream]. A session can instead get a
// dedicated Server, which is a process or an HTTP session of its own; the shared Server's placement
// maps each session to its connection ([Pool.Place]). The [Catalogue] contains the tools of all
// servers and publishes them as an immutable [ToolView]. [Pool.Relist] asks a server for its tools
// in the background; only one such listing runs per server at a time. A [RelayedRequest] is a
// client's request that goes to a single server without a decision by the gate.
//
// # Goroutines
//
// Each Server has one goroutine in [Pool.Sweep], which abandons requests that have timed out and
// closes a dedicated Server that has been unused for a while. Listings run in goroutines of their
// own ([lifetime.Lifetime.Background]).
//
// # Locks
//
// Each lock guards only the fields of its own type. placement.mu is held while a dedicated
// connection is being started, which does not block. relisting.running is held during a whole
// listing and must be locked before Catalogue.mu. The queue's lock also guards the positions
// (QueuePlace) of the requests in it.
//
// # Invariants
//
// A call (tools/call, prompts/get, resources/read) is sent only after it has passed admission:
// [Server.Send] refuses a call without [upstream.Request.Again], and only package pipeline sets
// that field. If several tools have the same exposed name, none of them can be called.
package pool

import (
	"context"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// Options holds the settings of a [Pool] and the other parts of the proxy that it uses.
type Options struct {
	Life         *lifetime.Lifetime
	Sessions     *session.Sessions
	Admission    *admission.Admission
	Startup      context.Context //nolint:containedctx // done when lists no longer wait for servers that are starting
	StartupLimit time.Duration   // how long a request may wait for a server to start

	Connect func(*Server)       // creates a server's connection
	Ended   func(*Server)       // called when a dedicated connection has ended
	Changed func(method string) // notifies clients that a list has changed
	Busy    func(*Server) bool  // reports whether the server is working on a task, which can continue after all requests have been answered
}

// A Pool manages the connections to all servers, and the catalogue of the servers' tools.
type Pool struct {
	Options
	Servers   []*Server // shared connections in configuration order
	Catalogue *Catalogue
}

// New returns a pool without servers.
func New(o Options) *Pool { return &Pool{Options: o} }

// ServersWith returns the servers that are up and declare the given capability, in configuration
// order.
func (p *Pool) ServersWith(capability string) []*Server {
	var list []*Server
	for _, u := range p.Servers {
		if u.State().Phase == upstream.Up && u.Has(capability) {
			list = append(list, u)
		}
	}
	return list
}

// AnyHasFlag reports whether any server that is up declares the given capability with the given
// flag.
func (p *Pool) AnyHasFlag(capability, flag string) bool {
	for _, u := range p.ServersWith(capability) {
		if u.hasFlag(capability, flag) {
			return true
		}
	}
	return false
}

// Snapshot returns the session's current state, including the tools that can be called.
func (p *Pool) Snapshot(s *session.Session) (*gate.State, error) {
	state, err := p.Admission.Snapshot(p.Life.Ctx, s.Key())
	if err != nil {
		return nil, err
	}
	state.Tools = p.Catalogue.Load().Calls
	return state, nil
}

// AwaitList waits until each server has listed its tools or is known to be down. It returns early
// when ctx or Startup is done.
func (p *Pool) AwaitList(ctx context.Context) {
	p.awaitEach(ctx, func(u *Server) <-chan struct{} { return u.started })
}

// AwaitUpstreams waits until the first attempt to connect to each server has succeeded or failed.
// It returns early when ctx or Startup is done.
func (p *Pool) AwaitUpstreams(ctx context.Context) { p.awaitEach(ctx, (*Server).Settled) }

func (p *Pool) awaitEach(ctx context.Context, done func(*Server) <-chan struct{}) {
	for _, u := range p.Servers {
		select {
		case <-done(u):
		case <-ctx.Done():
			return
		case <-p.Startup.Done():
			return
		}
	}
}

// AwaitTool returns the tool with the given exposed name, or nil if it does not exist. While
// servers are starting, it waits for the tool to appear.
func (p *Pool) AwaitTool(ctx context.Context, exposed string) *Tool {
	starting, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // this goroutine ends at the latest when AwaitTool returns and cancels the context
		defer stop()
		p.AwaitList(starting)
	}()
	for {
		next := p.Catalogue.nextListing()
		if t := p.KnownTool(exposed); t != nil {
			return t
		}
		select {
		case <-next:
		case <-starting.Done():
			return p.Catalogue.Load().tools[exposed]
		}
	}
}

// KnownTool returns the tool with the given exposed name, or nil. It also returns nil if a server
// that is still starting might have a tool with the same name, because neither of the two tools
// could then be called.
func (p *Pool) KnownTool(exposed string) *Tool {
	t := p.Catalogue.Load().tools[exposed]
	if t == nil || p.Startup.Err() != nil {
		return t
	}
	for _, u := range p.Servers {
		if u != t.Upstream && u.Starting() && strings.HasPrefix(exposed, u.Config.ExposedPrefix(false)) {
			return nil
		}
	}
	return t
}

// UnknownMessage returns the error message for a tool or prompt that no known server has.
func (p *Pool) UnknownMessage(kind, name string) string {
	unknown := "Unknown " + kind + ": " + text.Escape(name)
	if down := p.DownNames(); down != "" {
		unknown += ". It may belong to an upstream that is not running, or not listed yet: " + down
	}
	return unknown
}

// DownNames returns the names of the servers that are not up or have not yet listed their tools.
func (p *Pool) DownNames() string {
	var names []string
	for _, u := range p.Servers {
		if u.State().Phase != upstream.Up || !u.Listing.Logged.Load() {
			names = append(names, u.unavailableName())
		}
	}
	return strings.Join(names, ", ")
}
