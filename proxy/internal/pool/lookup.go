package pool

import (
	"context"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// AwaitList waits until the tools of every server were listed or the server is known to
// be down, for the time of startup at most.
func (p *Pool) AwaitList(ctx context.Context) {
	p.awaitEach(ctx, func(u *Server) <-chan struct{} { return u.started })
}

// AwaitUpstreams waits until every server is connected or its first attempt has failed,
// for the time of startup at most.
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

// AwaitTool returns the tool of that name; while servers are starting it waits for it.
func (p *Pool) AwaitTool(ctx context.Context, exposed string) *Tool {
	starting, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // ends with starting
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

// Known returns the tool of that name; nil if there is none, or if a server that is
// still starting may have a tool of the same name: then neither could be called.
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

// Unknown says that no server has a tool or a prompt of that name, as far as is known.
func (p *Pool) Unknown(kind, name string) string {
	unknown := "Unknown " + kind + ": " + text.Escape(name)
	if down := p.Down(); down != "" {
		unknown += ". It may be one of an upstream that is not running, or not listed yet: " + down
	}
	return unknown
}

// Down names the servers that are not up, or whose tools were not listed yet.
func (p *Pool) Down() string {
	var names []string
	for _, u := range p.Servers {
		if u.State().Phase != upstream.Up || !u.Listing.Logged.Load() {
			names = append(names, u.absence())
		}
	}
	return strings.Join(names, ", ")
}
