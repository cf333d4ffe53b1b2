package pool

import (
	"context"
	"strings"

	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// AwaitList waits until every upstream was listed or has failed for now, and
// no longer than upstreams may take to start.
func (p *Pool) AwaitList(ctx context.Context) {
	for _, u := range p.Servers {
		if p.Catalogue.listed(u) {
			continue
		}
		select {
		case <-u.started:
		case <-ctx.Done():
			return
		case <-p.Startup.Done():
			return
		}
	}
}

// AwaitTool waits for the tool of that name while upstreams are still starting.
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

// Known is the tool of that name, unless an upstream that is still starting
// may have one of the same name: then neither can be called, and it is too
// early to tell.
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

// Down names the upstreams that are not running, or not listed yet.
func (p *Pool) Down() string {
	var names []string
	for _, u := range p.Servers {
		if u.State().Phase != upstream.Up || !u.Listing.Logged.Load() {
			names = append(names, u.absence())
		}
	}
	return strings.Join(names, ", ")
}
