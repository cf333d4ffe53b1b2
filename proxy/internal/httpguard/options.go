package httpguard

import (
	"time"

	"github.com/petrigate/petrigate/proxy/internal/access"
)

// Options configures a [Guard]. The zero value is invalid: one of Token, Tokens and JWT must be
// set, or Open on a loopback address.
type Options struct {
	Addr    string            // address of the listener, of the form host:port
	TLS     bool              // whether the listener uses TLS
	Token   string            // bearer token of the principal named "token"
	Tokens  map[string]string // bearer tokens, keyed by name; the principal is "token:" followed by the name
	JWT     *access.Options   // options for tokens from an authorization server; nil: such tokens are not accepted
	Open    bool              // whether no token is required; allowed only on a loopback address
	Hosts   []string          // further Host headers to accept, with a port or (without one) for any port
	Origins []string          // further Origin headers to accept, of the form scheme://host[:port]

	MaxMessage  int              // maximum size of a message in bytes
	MaxRequests int              // maximum number of open requests per principal, and four times as many in total; 0: 5000
	BodyTimeout time.Duration    // maximum time for a client to send a message; 0: 30 seconds
	Now         func() time.Time // nil: time.Now
}

// defaultBodyTimeout is the default for the time that a client has to send a message.
const defaultBodyTimeout = 30 * time.Second
