package advertise

import (
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// Deps says what an Advertiser needs of the rest of the proxy.
type Options struct {
	Life      *lifetime.Lifetime
	Sessions  *session.Sessions
	Admission *admission.Admission
	Pool      *pool.Pool
}
