package router

import (
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// capabilities is what clients are offered: the tools, whose list is ours, and
// else what the upstreams that are connected have, and the status.
func (r *Router) capabilities(peer session.Peer) []byte {
	b := []byte(`{"logging":{},"tools":{"listChanged":true}`)
	for _, c := range [...]struct {
		name  string
		flags []string
		own   bool
	}{
		{"prompts", []string{"listChanged"}, r.Relay.OffersStatus()},
		{"resources", []string{"subscribe", "listChanged"}, r.Relay.OffersStatus()},
		{"completions", nil, false},
	} {
		if !c.own && len(r.Pool.Offering(c.name)) == 0 {
			continue
		}
		b = append(append(append(b, `,"`...), c.name...), `":{`...)
		for _, flag := range c.flags {
			if !r.Pool.AnyCan(c.name, flag) {
				continue
			}
			if b[len(b)-1] != '{' {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), flag...), `":true`...)
		}
		b = append(b, '}')
	}
	return append(r.Tasks.AppendCapability(b, peer), '}')
}
