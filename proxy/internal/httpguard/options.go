package httpguard

import (
	"time"

	"github.com/petrigate/petrigate/proxy/internal/access"
)

// Options configures a Guard. The zero value is invalid: one of Token, Tokens and JWT is required,
// or Open on a loopback address.
type Options struct {
	Addr    string            // address of the listener, host:port
	TLS     bool              // the listener uses TLS
	Token   string            // bearer token of the principal "token"
	Tokens  map[string]string // bearer tokens by name; the principal is "token:" and the name
	JWT     *access.Options   // tokens of an authorization server; nil: none
	Open    bool              // no token required; only on a loopback address
	Hosts   []string          // further Host headers to accept, with a port or for any port
	Origins []string          // further Origin headers to accept, as scheme://host[:port]

	MaxMessage  int              // maximum bytes of a message
	MaxRequests int              // open requests per principal; 0: 5000; four times as many in total
	BodyTimeout time.Duration    // time for a caller to send a message; 0: 30 s
	Now         func() time.Time // nil: time.Now
}

// defaultBodyTimeout is the default time for a client to send a message.
const defaultBodyTimeout = 30 * time.Second
