package front

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/access"
	"github.com/petrigate/petrigate/proxy/internal/httpguard"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// Access configures who can use the HTTP endpoint. The zero value is invalid: set Token, Tokens or
// JWT, or set Open for a loopback address.
type Access struct {
	Addr    string            // listener address, as host:port
	TLS     bool              // the listener uses TLS
	Path    string            // endpoint path; empty: /mcp
	Token   string            // bearer token required in every request
	Tokens  map[string]string // bearer tokens by owner name; each owner is a principal
	JWT     *JWT              // tokens of an authorization server
	Open    bool              // no token required; only on a loopback address
	Hosts   []string          // additional Host headers to accept, with a port or for any port
	Origins []string          // additional Origin headers to accept, as scheme://host[:port]
	Hooks   bool              // agents can report their own tool calls at /hook/AGENT

	IdleTTL     time.Duration // how long a session can stay idle; 0: an hour
	MaxSessions int           // open sessions per principal; 0: 1000
	MaxAll      int           // open sessions in total; 0: 10000
	MaxRequests int           // open requests per principal, including streams; 0: 5000; four times as many in total
	BodyTimeout time.Duration // how long a client can take to send a message; 0: 30 s

	// Beside answers requests for paths other than the endpoint. It reports false for unknown
	// paths. A caller is trusted if it has a token for the endpoint, or if it runs on this machine
	// and no token is required. Beside must not block. nil: there are no other paths.
	Beside func(w http.ResponseWriter, r *http.Request, trusted bool) bool
}

// JWT makes the endpoint an OAuth 2.1 resource server. A token's principal consists of its issuer
// and its subject.
type JWT struct {
	Issuer         string   // iss claim of the tokens
	Audience       string   // aud claim that tokens must have
	JWKS           string   // URL of the issuer's keys; empty: taken from its metadata
	Resource       string   // public URL of this endpoint; empty: the audience
	PrincipalClaim string   // claim that identifies the caller; empty: sub
	Scopes         []string // scopes that a token must all have
}

// defaultPath is the default endpoint path.
const defaultPath = "/mcp"

func (a Access) path() string { return cmp.Or(a.Path, defaultPath) }

// Several reports whether more than one principal can use the endpoint.
func (a Access) Several() bool {
	return a.JWT != nil || len(a.Tokens) > 1 || len(a.Tokens) == 1 && a.Token != ""
}

// guard returns the endpoint's guard. If there is an issuer, the guard starts to fetch its keys.
func (f *Front) guard(a Access) (*httpguard.Guard, error) {
	if a.path()[0] != '/' {
		return nil, fmt.Errorf("the endpoint path %q must begin with a slash", a.Path)
	}
	o := httpguard.Options{
		Addr: a.Addr, TLS: a.TLS, Token: a.Token, Tokens: a.Tokens, Open: a.Open, Hosts: a.Hosts, Origins: a.Origins,
		MaxRequests: a.MaxRequests, MaxMessage: f.MaxRequest, BodyTimeout: a.BodyTimeout, Now: f.Life.Now,
	}
	if j := a.JWT; j != nil {
		o.JWT = &access.Options{
			Issuer: j.Issuer, Audience: j.Audience, JWKS: j.JWKS, Resource: j.Resource, Path: a.path(),
			PrincipalClaim: j.PrincipalClaim, Scopes: j.Scopes, Logger: f.Life.Log, Now: f.Life.Now,
			Background: func(run func(context.Context)) { f.Life.Background(func() { run(f.Life.Ctx) }) },
		}
	}
	return httpguard.New(o)
}

// Defaults of [Access].
const (
	defaultSessions    = 1000
	defaultSessionsAll = 10_000
)

// A sessionLimit limits the number of open HTTP sessions, because a client can open a session with
// a single request.
type sessionLimit struct {
	each, all int

	mu sync.Mutex // held while sessions are counted and one is opened
}

func newSessionLimit(a Access) *sessionLimit {
	each := cmp.Or(a.MaxSessions, defaultSessions)
	return &sessionLimit{each: each, all: cmp.Or(a.MaxAll, max(defaultSessionsAll, each))}
}

// open opens a session and returns its client. If the limit does not allow that, open returns the
// reason.
func (s *sessionLimit) open(f *Front, principal, transport string, header http.Header, out spec.Stream) (c *session.Client, refusal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, all := f.Sessions.CountHTTP(principal)
	const wayOut = "; end an unused session (DELETE), or wait until idle sessions have ended"
	switch {
	case own >= s.each:
		return nil, fmt.Sprintf("you have %d open sessions, the maximum (listen.maxSessions)", own) + wayOut
	case all >= s.all:
		return nil, fmt.Sprintf("this proxy has %d open sessions, the maximum (listen.maxSessionsTotal)", all) + wayOut
	}
	c, err := f.Sessions.Connect(transport, principal, header, out)
	if err != nil {
		return nil, err.Error()
	}
	return c, ""
}
