package httpguard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/access"
)

// Access configures who can use an HTTP endpoint, and the limits on its use. The zero value is
// invalid: set Token, Tokens or JWT, or set Open for a loopback address.
type Access struct {
	Addr    string            // address of the listener, as host:port
	TLS     bool              // whether the listener uses TLS
	Path    string            // path of the endpoint; empty means /mcp
	Token   string            // bearer token of the principal named "token"
	Tokens  map[string]string // bearer tokens by name; the principal is "token:" followed by the name
	JWT     *access.JWT       // options for verifying JWTs from an authorization server; nil if JWTs are not accepted
	Open    bool              // whether requests without a token are accepted; allowed only on a loopback address
	Hosts   []string          // additional Host headers to accept; a host without a port matches any port
	Origins []string          // additional Origin headers to accept, as scheme://host[:port]
	Hooks   bool              // whether agents can report their own tool calls at /hook/AGENT

	IdleTTL     time.Duration // how long a session may stay idle; 0 means one hour
	MaxSessions int           // maximum number of open sessions per principal; 0 means 1000
	MaxAll      int           // maximum number of open sessions in total; 0 means 10000
	MaxRequests int           // maximum number of open requests, including streams, per principal; 0 means 5000; the total limit is four times as high
	BodyTimeout time.Duration // how long a client may take to send a message; 0 means 30 seconds

	// Beside, if not nil, serves requests for all paths except the MCP endpoint and the agents'
	// hooks. If it does not know a path, it returns false. The proxy then serves HTTP+SSE or the
	// metadata for JWTs if the path belongs to them, or responds with status 404. trusted is the
	// result of [Guard.Trusted] for the request. Beside must not block.
	Beside func(w http.ResponseWriter, r *http.Request, trusted bool) bool
}

// Several reports whether more than one principal can use the endpoint.
func (a Access) Several() bool {
	return a.JWT != nil || len(a.Tokens) > 1 || len(a.Tokens) == 1 && a.Token != ""
}

// Options holds the settings of a [Guard] that do not belong to its [Access].
type Options struct {
	MaxMessage int                         // maximum size of a message in bytes
	Now        func() time.Time            // returns the current time; nil means time.Now
	Logger     *slog.Logger                // if nil, nothing is logged
	Background func(func(context.Context)) // starts a function that fetches keys; see [access.Options]
}

// defaultBodyTimeout is the default time limit for sending a message.
const defaultBodyTimeout = 30 * time.Second

// A Guard checks requests and responds to those that it rejects. It is safe for concurrent use.
type Guard struct {
	addresses
	open        bool
	tokens      tokenList
	jwt         *access.Verifier // nil if JWTs are not accepted
	maxMessage  int
	bodyTimeout time.Duration
	now         func() time.Time
	requests    *limit
	bodies      *limit
}

// New returns a Guard. It returns an error if the Access is contradictory or incomplete, or would
// admit other machines without authentication. If JWTs are enabled, New starts fetching the
// issuer's keys.
func New(a Access, o Options) (*Guard, error) {
	host, port, err := net.SplitHostPort(a.Addr)
	if err != nil {
		return nil, err
	}
	if err := a.check(host); err != nil {
		return nil, err
	}
	each := cmp.Or(a.MaxRequests, defaultRequests)
	g := &Guard{
		addresses: newAddresses(a, host, port), maxMessage: o.MaxMessage, bodyTimeout: cmp.Or(a.BodyTimeout, defaultBodyTimeout),
		now: o.Now, requests: &limit{each: each, all: 4 * each}, bodies: newBodyLimit(o.MaxMessage),
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.tokens, err = newTokenList(a.Token, a.Tokens); err != nil {
		return nil, err
	}
	if a.JWT != nil {
		keys := access.Options{JWT: *a.JWT, Path: a.Path, Logger: o.Logger, Now: o.Now, Background: o.Background}
		if g.jwt, err = access.New(keys); err != nil {
			return nil, fmt.Errorf("setting up authentication by JWT: %w", err)
		}
	}
	g.open = g.jwt == nil && len(g.tokens) == 0
	return g, nil
}

func (a Access) check(host string) error {
	token := a.Token != "" || len(a.Tokens) > 0
	switch {
	case token && a.JWT != nil:
		return errors.New("the HTTP listener has both tokens and JWT authentication: choose one")
	case a.JWT != nil && a.Open:
		return errors.New("the HTTP listener has JWT authentication but is open: choose one")
	case token || a.JWT != nil:
		return nil
	case !a.Open:
		return errors.New("the HTTP listener has no authentication: set a token")
	case !loopback(host):
		return errors.New("the listener at " + a.Addr + " is reachable from other machines: it requires authentication (auth: token or auth: jwt) or a loopback address such as 127.0.0.1")
	}
	return nil
}

// Begin forbids caching the response, and sets the deadline for reading the body. It must be the
// first call for each request.
func (g *Guard) Begin(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header["X-Content-Type-Options"] = noSniff
	header["Cache-Control"] = noStore
	if r.ContentLength != 0 { // set the deadline even for a request that will be rejected, because net/http then reads the rest of the body
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(g.bodyTimeout)) // the ResponseWriters of some tests do not support deadlines
	}
	if len(r.TransferEncoding) > 0 { // net/http removes a Content-Length header that contradicts Transfer-Encoding, so close the connection
		header["Connection"] = closing
	}
}

// Limits on reading the body of a rejected request before its connection is closed. net/http uses
// similar limits.
const (
	lingerBytes = 256 << 10
	lingerTime  = 500 * time.Millisecond
)

// End must be the last call for each request, after the response has been written. If the
// connection is about to be closed, End first reads the rest of the body, within limits. Otherwise,
// a client that is still sending the body could lose the response, because closing a connection
// with unread bytes resets it. If the connection stays open, net/http itself reads the rest.
func (g *Guard) End(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 || !r.Close && len(w.Header()["Connection"]) == 0 {
		return
	}
	if r.Header.Get("Expect") != "" { // reading the body would ask the client to send it (Expect: 100-continue)
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(lingerTime))
	if _, err := io.CopyN(io.Discard, r.Body, lingerBytes); err == io.EOF {
		return
	}
	// The rest of the body could not be read. Exceed the limit of a MaxBytesReader, so that
	// net/http waits a moment before it closes the connection. The client can then read the
	// response.
	_, _ = http.MaxBytesReader(w, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}

// Trusted reports whether the sender of a request outside the MCP endpoint can be trusted with
// details, such as the names of tools. If the operator has configured tokens and the request has a
// token, the token must be one of them. Otherwise, the request must come from a program on this
// machine and be sent to localhost. Its headers must not indicate that it came from a browser page
// or through a reverse proxy.
func (g *Guard) Trusted(r *http.Request) bool {
	if token := bearer(r.Header["Authorization"]); token != "" && len(g.tokens) > 0 {
		_, ok := g.tokens.principal(token)
		return ok
	}
	return Local(r)
}

// forwardingHeaders lists the headers added by reverse proxies. The actual sender of a request with
// such a header may be anywhere.
var forwardingHeaders = [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"}

// Local reports whether a request was sent from this machine and is addressed to localhost.
func Local(r *http.Request) bool {
	for _, name := range forwardingHeaders {
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

// Metadata serves the protected resource metadata (RFC 9728), which tells clients where to get a
// token. It returns false for any other path.
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
		_, _ = w.Write(document) // the client may have disconnected
	}
	return true
}

// A tokenList holds the bearer tokens configured by the operator, with their principals.
type tokenList []tokenEntry

type tokenEntry struct {
	principal string
	sum       [sha256.Size]byte
}

// newTokenList returns a list of the unnamed token and the named tokens. It returns an error if two
// tokens are identical, because they could not tell their principals apart.
func newTokenList(unnamed string, named map[string]string) (tokenList, error) {
	var list tokenList
	if unnamed != "" {
		list = append(list, tokenEntry{"token", sha256.Sum256([]byte(unnamed))})
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		token := named[name]
		if name == "" || token == "" {
			return nil, errors.New("the HTTP listener has an empty token or token name")
		}
		entry := tokenEntry{"token:" + name, sha256.Sum256([]byte(token))}
		for _, other := range list {
			if other.sum == entry.sum {
				return nil, fmt.Errorf("%s and %s have the same token", other.principal, entry.principal)
			}
		}
		list = append(list, entry)
	}
	return list, nil
}

// principal returns the principal of a token. It takes the same time for all tokens, so that the
// time reveals nothing about the accepted tokens.
func (l tokenList) principal(token string) (string, bool) {
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i := range l {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], l[i].sum[:]), i, found)
	}
	if found < 0 {
		return "", false
	}
	return l[found].principal, true
}

// bearer returns the bearer token in the Authorization header. It returns "" if the header is
// missing, is repeated, or contains no bearer token.
func bearer(values []string) string {
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}
