package pool

import (
	"context"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// AwaitList waits until each server has listed its tools or is known to be down, but no longer than
// the startup time.
func (p *Pool) AwaitList(ctx context.Context) {
	p.awaitEach(ctx, func(u *Server) <-chan struct{} { return u.started })
}

// AwaitUpstreams waits until each server is connected or its first attempt to connect has failed,
// but no longer than the startup time.
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

// AwaitTool returns the tool with the given exposed name, or nil. While servers are starting, it
// waits for the tool to appear.
func (p *Pool) AwaitTool(ctx context.Context, exposed string) *Tool {
	starting, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // ends when the context starting ends
		defer stop()
		p.AwaitList(starting)
	}()
	for {
		next := p.Catalogue.next()
		if t := p.Known(exposed); t != nil {
			return t
		}
		select {
		case <-next:
		case <-starting.Done():
			return p.Catalogue.Load().tools[exposed]
		}
	}
}

// Known returns the tool with the given exposed name, or nil. It also returns nil if a server that
// is still starting might have a tool with the same name, because tools with colliding names cannot
// be called.
func (p *Pool) Known(exposed string) *Tool {
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

// Unknown returns the error text for a tool or prompt that no server is known to have.
func (p *Pool) Unknown(kind, name string) string {
	unknown := "Unknown " + kind + ": " + text.Escape(name)
	if down := p.Down(); down != "" {
		unknown += ". It may be one of an upstream that is not running, or not listed yet: " + down
	}
	return unknown
}

// Down returns the names of the servers that are not up or have not yet listed their tools.
func (p *Pool) Down() string {
	var names []string
	for _, u := range p.Servers {
		if u.State().Phase != upstream.Up || !u.Listing.Logged.Load() {
			names = append(names, u.unavailableName())
		}
	}
	return strings.Join(names, ", ")
}
