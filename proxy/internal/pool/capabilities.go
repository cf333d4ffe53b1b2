package pool

import (
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// Has reports whether the server behind u offers what a capability stands for.
func (u *Server) Has(capability string) bool {
	_, ok := rawjson.Member(u.State().Capabilities, capability)
	return ok
}

// can reports whether a capability of the server has a flag set.
func (u *Server) can(capability, flag string) bool {
	of, _ := rawjson.Member(u.State().Capabilities, capability)
	set, _ := rawjson.Member(of, flag)
	return string(set) == "true"
}

// Offering is the upstreams that are up and have a capability, in the order
// of the configuration.
func (p *Pool) Offering(capability string) []*Server {
	var list []*Server
	for _, u := range p.Servers {
		if u.State().Phase == upstream.Up && u.Has(capability) {
			list = append(list, u)
		}
	}
	return list
}

// AwaitUpstreams waits until every upstream is connected or has failed for
// now, and no longer than upstreams may take to start.
func (p *Pool) AwaitUpstreams(ctx context.Context) {
	for _, u := range p.Servers {
		select {
		case <-u.Settled():
		case <-ctx.Done():
			return
		case <-p.Startup.Done():
			return
		}
	}
}

func (p *Pool) AnyCan(capability, flag string) bool {
	for _, u := range p.Offering(capability) {
		if u.can(capability, flag) {
			return true
		}
	}
	return false
}
