package httpguard

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
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

// Header values. They must not be modified.
var (
	noSniff  = []string{"nosniff"}
	noStore  = []string{"no-store"}
	jsonType = []string{"application/json"}
	closing  = []string{"close"}
)

// A Guard checks requests and answers those that it rejects. It is safe for concurrent use.
type Guard struct {
	addresses
	open        bool
	tokens      tokenList
	jwt         *access.Verifier // nil: only the tokens of the list
	maxMessage  int
	bodyTimeout time.Duration
	now         func() time.Time
	requests    *limit
	bodies      *limit
}

// New returns a guard. It refuses options that would admit more or fewer callers than the operator
// expects. With JWT it begins to fetch the keys of the issuer.
func New(o Options) (*Guard, error) {
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return nil, err
	}
	if err := o.check(host); err != nil {
		return nil, err
	}
	g := &Guard{
		addresses: newAddresses(o, host, port), maxMessage: o.MaxMessage, bodyTimeout: cmp.Or(o.BodyTimeout, defaultBodyTimeout),
		now: o.Now, requests: newRequestLimit(o.MaxRequests), bodies: newBodyLimit(o.MaxMessage),
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.tokens, err = newTokenList(o.Token, o.Tokens); err != nil {
		return nil, err
	}
	if o.JWT != nil {
		if g.jwt, err = access.New(*o.JWT); err != nil {
			return nil, fmt.Errorf("setting up authentication by JWT: %w", err)
		}
	}
	g.open = g.jwt == nil && len(g.tokens) == 0
	return g, nil
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

// Begin must be called first for each request: it forbids caching of the response and sets the
// deadline for the body.
func (g *Guard) Begin(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["X-Content-Type-Options"] = noSniff
	header["Cache-Control"] = noStore
	if r.ContentLength != 0 { // for rejected requests too: net/http reads the rest
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(g.bodyTimeout)) // not supported in some tests
	}
	if len(r.TransferEncoding) > 0 { // a Content-Length might have been present as well, which net/http does not show
		header["Connection"] = closing
	}
}

// Limits on reading the body of a rejected request before its connection is closed: as many bytes
// as net/http reads of other bodies, for about as long as it would leave the connection open.
const (
	lingerBytes = 256 << 10
	lingerTime  = 500 * time.Millisecond
)

// End must be called last for each request, after its response is written. It lets a client that
// still sends its body read the rejection: closing a connection with unread bytes resets it, and
// the response is lost. net/http prevents that only if the connection would stay open.
func (g *Guard) End(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 || !r.Close && len(w.Header()["Connection"]) == 0 {
		return
	}
	if r.Header.Get("Expect") != "" { // reading would make the client send the body
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingerTime))
	if _, err := io.CopyN(io.Discard, r.Body, lingerBytes); err == io.EOF {
		return
	}
	// The body is longer than the limit. net/http waits a moment before it closes a connection with
	// a body that was found too large, which it learns from its own reader.
	_, _ = http.MaxBytesReader(w, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}

// Admit returns the caller, which must be released. If it rejects the request, it answers it and
// reports false.
func (g *Guard) Admit(w http.ResponseWriter, r *http.Request) (Caller, bool) {
	v, ok := g.authenticate(w, r)
	return v, ok && g.requests.admit(w, v.Principal)
}

// authenticate checks Host, Origin and token, in this order, and returns the caller.
func (g *Guard) authenticate(w http.ResponseWriter, r *http.Request) (Caller, bool) {
	if !g.allow(w, r) {
		return Caller{}, false
	}
	if g.open {
		return Caller{Principal: "anonymous", guard: g}, true
	}
	token := bearer(r.Header["Authorization"])
	if g.jwt != nil {
		return g.granted(w, r, token)
	}
	if principal, ok := g.tokens.principal(token); ok {
		return Caller{Principal: principal, guard: g}, true
	}
	refuseToken(w, http.StatusUnauthorized, `Bearer realm="petrigate"`, "a bearer token is needed")
	return Caller{}, false
}

// Trusted reports whether a request outside of MCP has a token of the list, or comes from a program
// on this machine: not from a page in a browser, and not through a reverse proxy, as far as the
// request shows.
func (g *Guard) Trusted(r *http.Request) bool {
	if token := bearer(r.Header["Authorization"]); token != "" && len(g.tokens) > 0 {
		_, ok := g.tokens.principal(token)
		return ok
	}
	return Local(r)
}

// forwardedBy are headers that reverse proxies add: the caller could be anywhere.
var forwardedBy = [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"}

// Local reports whether a request comes from this machine and is addressed to localhost.
func Local(r *http.Request) bool {
	for _, name := range forwardedBy {
		if len(r.Header[name]) > 0 {
			return false
		}
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && len(r.Header["Origin"]) == 0 && loopback(from) && loopback(strings.Trim(host, "[]"))
}

// granted authenticates the caller by a JWT. Its errors never quote the token.
func (g *Guard) granted(w http.ResponseWriter, r *http.Request, token string) (Caller, bool) {
	grant, err := g.jwt.Verify(r.Context(), token)
	if err != nil {
		status, challenge := g.jwt.Answer(err)
		refuseToken(w, status, challenge, err.Error())
		return Caller{}, false
	}
	return Caller{Principal: grant.Principal, until: grant.Expires, guard: g}, true
}

// Reject closes the connection after the response to a rejected request. It would stay open for
// minutes, and connections are limited.
func Reject(w http.ResponseWriter) { w.Header()["Connection"] = closing }

func refuseToken(w http.ResponseWriter, status int, challenge, reason string) {
	Reject(w)
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, reason, status)
}

// Metadata serves the protected resource metadata (RFC 9728), which tells clients where to get a
// token. It reports false for other paths.
func (g *Guard) Metadata(w http.ResponseWriter, r *http.Request) bool {
	if g.jwt == nil {
		return false
	}
	document := g.jwt.Metadata(r.URL.Path)
	switch {
	case document == nil:
		return false
	case !g.allow(w, r):
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	default:
		Reject(w)
		w.Header()["Content-Type"] = jsonType
		_, _ = w.Write(document) // a client that has disconnected needs no answer
	}
	return true
}
