package door

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/access"
)

// Options say who may come in. The zero value lets nobody in: it wants one of
// Token, Tokens and JWT, or Open on a loopback address.
type Options struct {
	Addr    string            // where the listener is, host:port
	TLS     bool              // it speaks TLS
	Token   string            // bearer token of the principal "token"
	Tokens  map[string]string // bearer tokens by name, each of the principal "token:" and the name
	JWT     *access.Options   // tokens of an authorization server; nil: none
	Open    bool              // no token; only on a loopback address
	Hosts   []string          // further Host headers to accept, with a port or for any
	Origins []string          // further Origin headers to accept, as scheme://host[:port]

	MaxMessage  int              // bytes
	MaxRequests int              // that one principal may have open; 0: 5000; all may have four times that
	BodyTimeout time.Duration    // for a visitor to send a message; 0: 30 s
	Now         func() time.Time // nil: time.Now
}

// defaultBodyTimeout is how long a client may take to send a message.
const defaultBodyTimeout = 30 * time.Second

// Values of headers. They are never written to.
var (
	noSniff  = []string{"nosniff"}
	noStore  = []string{"no-store"}
	jsonType = []string{"application/json"}
	closing  = []string{"close"}
)

// A Door is safe for concurrent use. Each of its checks refuses by itself.
type Door struct {
	addresses
	open        bool
	tokens      tokenList
	jwt         *access.Verifier // nil: tokens are those of the list
	maxMessage  int
	bodyTimeout time.Duration
	now         func() time.Time
	crowd       *crowd
	load        *load
}

// New makes a door, and refuses options that would let in more, or fewer, than
// the operator thinks. With a JWT it begins to fetch the keys of the issuer.
func New(o Options) (*Door, error) {
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return nil, err
	}
	if err := o.check(host); err != nil {
		return nil, err
	}
	d := &Door{
		addresses: newAddresses(o, host, port), maxMessage: o.MaxMessage, bodyTimeout: cmp.Or(o.BodyTimeout, defaultBodyTimeout),
		now: o.Now, crowd: newCrowd(o.MaxRequests), load: newLoad(o.MaxMessage),
	}
	if d.now == nil {
		d.now = time.Now
	}
	if d.tokens, err = newTokenList(o.Token, o.Tokens); err != nil {
		return nil, err
	}
	if o.JWT != nil {
		if d.jwt, err = access.New(*o.JWT); err != nil {
			return nil, fmt.Errorf("setting up authentication by JWT: %w", err)
		}
	}
	d.open = d.jwt == nil && len(d.tokens) == 0
	return d, nil
}

func (o Options) check(host string) error {
	token := o.Token != "" || len(o.Tokens) > 0
	switch {
	case token && o.JWT != nil:
		return errors.New("the HTTP listener has tokens of its own and JWTs: choose one")
	case o.JWT != nil && o.Open:
		return errors.New("the HTTP listener has JWTs and is open: choose one")
	case token || o.JWT != nil:
		return nil
	case !o.Open:
		return errors.New("the HTTP listener has no authentication: give it a token")
	case !loopback(host):
		return errors.New("the listener at " + o.Addr + " can be reached from other machines: it wants authentication, auth: token or auth: jwt, or a loopback address like 127.0.0.1")
	}
	return nil
}

// Receive is called first for each request, whoever sends it: its answer is for
// nobody to keep, and its body has a time to come in.
func (d *Door) Receive(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["X-Content-Type-Options"] = noSniff
	header["Cache-Control"] = noStore
	if r.ContentLength != 0 { // also of who is turned away: net/http reads the rest
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(d.bodyTimeout)) // where there is none, a test serves
	}
	if len(r.TransferEncoding) > 0 { // there may have been a length as well, which net/http does not tell
		header["Connection"] = closing
	}
}

// Enter lets a visitor in, who must Leave, or answers why not.
func (d *Door) Enter(w http.ResponseWriter, r *http.Request) (Visitor, bool) {
	v, ok := d.admit(w, r)
	if !ok || !d.crowd.enter(w, v.Principal) {
		return Visitor{}, false
	}
	return v, true
}

// admit checks Host, Origin and token, in this order, and says who is there.
func (d *Door) admit(w http.ResponseWriter, r *http.Request) (Visitor, bool) {
	if !d.allow(w, r) {
		return Visitor{}, false
	}
	if d.open {
		return Visitor{Principal: "anonymous", door: d}, true
	}
	token := bearer(r.Header["Authorization"])
	if d.jwt != nil {
		return d.granted(w, r, token)
	}
	if principal, ok := d.tokens.principal(token); ok {
		return Visitor{Principal: principal, door: d}, true
	}
	refuseToken(w, http.StatusUnauthorized, `Bearer realm="petrigate"`, "a bearer token is needed")
	return Visitor{}, false
}

// granted asks the verifier. The text of its denials holds nothing of the token.
func (d *Door) granted(w http.ResponseWriter, r *http.Request, token string) (Visitor, bool) {
	grant, err := d.jwt.Verify(r.Context(), token)
	if err != nil {
		status, challenge := d.jwt.Answer(err)
		refuseToken(w, status, challenge, err.Error())
		return Visitor{}, false
	}
	return Visitor{Principal: grant.Principal, until: grant.Expires, door: d}, true
}

// TurnAway ends the connection behind an answer to somebody who was not let in:
// it would be theirs for minutes, and connections are bounded.
func TurnAway(w http.ResponseWriter) { w.Header()["Connection"] = closing }

func refuseToken(w http.ResponseWriter, status int, challenge, reason string) {
	TurnAway(w)
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, reason, status)
}

// Metadata serves what clients without a token need to get one. It reports
// false for other paths.
func (d *Door) Metadata(w http.ResponseWriter, r *http.Request) bool {
	if d.jwt == nil {
		return false
	}
	document := d.jwt.Metadata(r.URL.Path)
	switch {
	case document == nil:
		return false
	case !d.allow(w, r):
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	default:
		TurnAway(w)
		w.Header()["Content-Type"] = jsonType
		_, _ = w.Write(document) // a client that is gone needs no answer
	}
	return true
}
