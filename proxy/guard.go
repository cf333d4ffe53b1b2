package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/access"
)

// Access says who may speak to the HTTP endpoint. The zero value lets nobody
// in: it wants one of Token, Tokens and JWT, or Open on a loopback address.
type Access struct {
	Addr    string            // where the listener is, host:port
	TLS     bool              // it speaks TLS
	Path    string            // of the endpoint; "": /mcp
	Token   string            // bearer token that every request must carry
	Tokens  map[string]string // bearer tokens by the name of who has it; each is a principal of its own
	JWT     *JWT              // tokens of an authorization server
	Open    bool              // no token; only on a loopback address
	Hosts   []string          // further Host headers to accept, with a port or for any
	Origins []string          // further Origin headers to accept, as scheme://host[:port]

	IdleTTL     time.Duration // of sessions; 0: an hour
	MaxSessions int           // that one principal may have at a time; 0: 1000
	MaxAll      int           // that all of them may have; 0: 10000
	MaxRequests int           // that one principal may have open, streams too; 0: 5000; all may have four times that
	BodyTimeout time.Duration // for a client to send a message; 0: 30 s
}

// JWT makes the endpoint an OAuth 2.1 resource server. The principal of a
// token is its issuer and its subject.
type JWT struct {
	Issuer         string   // as it stands in the tokens
	Audience       string   // who the tokens must be for
	JWKS           string   // URL of the issuer's keys; "": its metadata says
	Resource       string   // URL by which clients know this endpoint; "": the audience
	PrincipalClaim string   // the claim that names who calls; "": sub
	Scopes         []string // all of which a token must have
}

// A guard stands before the endpoint. Each of its checks refuses by itself.
type guard struct {
	open    bool
	tokens  tokenList
	jwt     *access.Verifier // nil: tokens are those of the list
	port    string
	hosts   map[string]bool
	origins map[string]bool
}

// A visitor is who the guard has let in.
type visitor struct {
	principal string
	until     time.Time // when streams of news end; zero: never
}

// stream is the lifetime of a stream that the visitor holds open: a token that
// has expired opens none, and keeps none open.
func (v visitor) stream(ctx context.Context, now time.Time) (context.Context, context.CancelFunc) {
	if v.until.IsZero() {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, v.until.Sub(now))
}

func (p *Proxy) newGuard(a Access) (*guard, error) {
	host, port, err := net.SplitHostPort(a.Addr)
	if err != nil {
		return nil, err
	}
	if err := a.check(host); err != nil {
		return nil, err
	}
	g := &guard{port: port, hosts: map[string]bool{}, origins: map[string]bool{}}
	if g.tokens, err = newTokenList(a.Token, a.Tokens); err != nil {
		return nil, err
	}
	if a.JWT != nil {
		if g.jwt, err = p.verifier(*a.JWT, a.path()); err != nil {
			return nil, fmt.Errorf("setting up authentication by JWT: %w", err)
		}
	}
	g.open = g.jwt == nil && len(g.tokens) == 0
	for _, h := range a.Hosts {
		g.hosts[strings.ToLower(h)] = true
	}
	if !unspecified(host) { // a page of anybody can ask for 0.0.0.0
		g.hosts[strings.ToLower(host)] = true
	}
	usual := map[bool]string{false: "80", true: "443"}[a.TLS] // is left out
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]"} {
		g.hosts[name+":"+port] = true
		g.hosts[name] = g.hosts[name] || port == usual
	}
	for _, o := range a.Origins {
		g.origins[strings.ToLower(strings.TrimSuffix(o, "/"))] = true
	}
	return g, nil
}

// check refuses what would let in more, or fewer, than the operator thinks.
func (a Access) check(host string) error {
	token := a.Token != "" || len(a.Tokens) > 0
	switch {
	case a.path()[0] != '/':
		return fmt.Errorf("the path of the endpoint is %q, and it must begin with a slash", a.Path)
	case token && a.JWT != nil:
		return errors.New("the HTTP listener has tokens of its own and JWTs: choose one")
	case a.JWT != nil && a.Open:
		return errors.New("the HTTP listener has JWTs and is open: choose one")
	case token || a.JWT != nil:
		return nil
	case !a.Open:
		return errors.New("the HTTP listener has no authentication: give it a token")
	case !loopback(host):
		return errors.New("the listener at " + a.Addr + " can be reached from other machines: it wants authentication, auth: token or auth: jwt, or a loopback address like 127.0.0.1")
	}
	return nil
}

func (a Access) path() string { return cmp.Or(a.Path, defaultPath) }

// verifier begins to fetch the keys of the issuer.
func (p *Proxy) verifier(j JWT, path string) (*access.Verifier, error) {
	return access.New(access.Options{
		Issuer: j.Issuer, Audience: j.Audience, JWKS: j.JWKS, Resource: j.Resource, Path: path,
		PrincipalClaim: j.PrincipalClaim, Scopes: j.Scopes, Logger: p.log, Now: p.options.Now,
		Background: func(f func(context.Context)) { p.background(func() { f(p.ctx) }) },
	})
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// unspecified reports whether a host to listen at stands for all networks.
func unspecified(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.Unmap().WithZone("").IsUnspecified()
}

// admit checks Host, Origin and token, in this order, and says who is there.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) (visitor, bool) {
	if !g.addressed(w, r) {
		return visitor{}, false
	}
	if g.open {
		return visitor{principal: "anonymous"}, true
	}
	token := bearer(r.Header["Authorization"])
	if g.jwt != nil {
		return g.granted(w, r, token)
	}
	if principal, ok := g.tokens.principal(token); ok {
		return visitor{principal: principal}, true
	}
	refuseToken(w, http.StatusUnauthorized, `Bearer realm="petrigate"`, "a bearer token is needed")
	return visitor{}, false
}

// addressed checks that a request was meant for this endpoint, and does not
// come from a page that somebody else wrote.
func (g *guard) addressed(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case !g.hostAllowed(r.Host):
		turnAway(w)
		http.Error(w, "this Host is not allowed", http.StatusForbidden)
	case !g.originAllowed(r.Header["Origin"]):
		turnAway(w)
		http.Error(w, "this Origin is not allowed", http.StatusForbidden)
	default:
		return true
	}
	return false
}

// granted asks the verifier. The text of its denials holds nothing of the token.
func (g *guard) granted(w http.ResponseWriter, r *http.Request, token string) (visitor, bool) {
	grant, err := g.jwt.Verify(r.Context(), token)
	if err != nil {
		status, challenge := g.jwt.Answer(err)
		refuseToken(w, status, challenge, err.Error())
		return visitor{}, false
	}
	return visitor{principal: grant.Principal, until: grant.Expires}, true
}

// turnAway ends the connection behind an answer to somebody who was not let in:
// it would be theirs for minutes, and connections are bounded.
func turnAway(w http.ResponseWriter) { w.Header()["Connection"] = closing }

func refuseToken(w http.ResponseWriter, status int, challenge, reason string) {
	turnAway(w)
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, reason, status)
}

// metadata serves what clients without a token need to get one. It reports
// false for other paths.
func (g *guard) metadata(w http.ResponseWriter, r *http.Request) bool {
	if g.jwt == nil {
		return false
	}
	document := g.jwt.Metadata(r.URL.Path)
	switch {
	case document == nil:
		return false
	case !g.addressed(w, r):
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	default:
		turnAway(w)
		writeJSON(w, http.StatusOK, document)
	}
	return true
}

// hostAllowed accepts the names of loopback with our port, the address of the
// listener, and what the operator listed. It stands against DNS rebinding.
func (g *guard) hostAllowed(header string) bool {
	if g.hosts[header] {
		return true
	}
	header = strings.ToLower(header)
	if g.hosts[header] {
		return true
	}
	host, port, err := net.SplitHostPort(header)
	return err == nil && port == g.port && (loopback(host) || g.hosts[host])
}

// originAllowed accepts no Origin, one of this machine, or one that the
// operator listed.
func (g *guard) originAllowed(values []string) bool {
	if len(values) == 0 {
		return true
	}
	if len(values) > 1 {
		return false
	}
	if g.origins[strings.ToLower(values[0])] {
		return true
	}
	u, err := url.Parse(values[0])
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	host := u.Hostname()
	return loopback(host) && *u == url.URL{Scheme: u.Scheme, Host: u.Host} // nothing but an origin
}
