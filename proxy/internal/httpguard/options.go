package httpguard

import (
	"time"

	"github.com/petrigate/petrigate/proxy/internal/access"
)

// Options configures a [Guard]. The zero value is invalid, because Token, Tokens or JWT must be
// set, or Open on a loopback address.
type Options struct {
	Addr    string            // the listener's address, host:port
	TLS     bool              // whether the listener uses TLS
	Token   string            // bearer token of the principal named "token"
	Tokens  map[string]string // bearer tokens by name; the principal is "token:" followed by the name
	JWT     *access.Options   // accepts tokens from an authorization server, unless nil
	Open    bool              // require no token; allowed only on a loopback address
	Hosts   []string          // further Host headers to accept, either with a port or for any port
	Origins []string          // further Origin headers to accept, in the form scheme://host[:port]

	MaxMessage  int              // maximum size of a message in bytes
	MaxRequests int              // open requests per principal, and four times as many in total; 0: 5000
	BodyTimeout time.Duration    // time for a client to send a message; 0: 30 s
	Now         func() time.Time // nil: time.Now
}

// defaultBodyTimeout is the default time for a client to send a message.
const defaultBodyTimeout = 30 * time.Second
