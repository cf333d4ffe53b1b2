package proxy

import (
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// has reports whether the server behind u offers what a capability stands for.
func (u *upstreamState) has(capability string) bool {
	_, ok := rawjson.Member(u.State().Capabilities, capability)
	return ok
}

// can reports whether a capability of the server has a flag set.
func (u *upstreamState) can(capability, flag string) bool {
	of, _ := rawjson.Member(u.State().Capabilities, capability)
	set, _ := rawjson.Member(of, flag)
	return string(set) == "true"
}

// offering is the upstreams that are up and have a capability, in the order
// of the configuration.
func (p *Proxy) offering(capability string) []*upstreamState {
	var list []*upstreamState
	for _, u := range p.upstreams {
		if u.State().Phase == upstream.Up && u.has(capability) {
			list = append(list, u)
		}
	}
	return list
}

// awaitUpstreams waits until every upstream is connected or has failed for
// now, and no longer than upstreams may take to start.
func (p *Proxy) awaitUpstreams(ctx context.Context) {
	for _, u := range p.upstreams {
		select {
		case <-u.Settled():
		case <-ctx.Done():
			return
		case <-p.startup.Done():
			return
		}
	}
}

// capabilities is what clients are offered: the tools, whose list is ours, and
// else what the upstreams that are connected have, and the status.
func (p *Proxy) capabilities(a agent) []byte {
	b := []byte(`{"logging":{},"tools":{"listChanged":true}`)
	for _, c := range [...]struct {
		name  string
		flags []string
		own   bool
	}{
		{"prompts", []string{"listChanged"}, p.offersStatus()},
		{"resources", []string{"subscribe", "listChanged"}, p.offersStatus()},
		{"completions", nil, false},
	} {
		if !c.own && len(p.offering(c.name)) == 0 {
			continue
		}
		b = append(append(append(b, `,"`...), c.name...), `":{`...)
		for _, flag := range c.flags {
			if !p.anyCan(c.name, flag) {
				continue
			}
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), flag...), `":true`...)
		}
		b = append(b, '}')
	}
	return append(p.tasks.appendCapability(b, a), '}')
}

func (p *Proxy) anyCan(capability, flag string) bool {
	for _, u := range p.offering(capability) {
		if u.can(capability, flag) {
			return true
		}
	}
	return false
}
