package proxy

import (
	"github.com/petrigate/petrigate/proxy/internal/pool"
)

// forgetConnection forgets what the parts of the proxy know of a connection that has
// ended.
func (p *Proxy) forgetConnection(u *pool.Server) {
	p.relay.Watched.Forget(u)
	p.relay.Levels.Forget(u)
	p.reverse.URLElicitations.Forget(u)
}
