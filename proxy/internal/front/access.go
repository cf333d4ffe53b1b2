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
	Addr    string            // address of the listener, of the form host:port
	TLS     bool              // whether the listener uses TLS
	Path    string            // path of the endpoint; empty: /mcp
	Token   string            // bearer token that is required in every request
	Tokens  map[string]string // bearer tokens, keyed by the name of the owner; each owner is a principal
	JWT     *JWT              // how to verify the tokens of an authorization server
	Open    bool              // whether requests need no token; allowed only on a loopback address
	Hosts   []string          // additional Host headers to accept, with a port or (without one) for any port
	Origins []string          // additional Origin headers to accept, of the form scheme://host[:port]
	Hooks   bool              // whether agents can report their own tool calls at /hook/AGENT

	IdleTTL     time.Duration // how long a session can stay idle; 0: one hour
	MaxSessions int           // maximum number of open sessions per principal; 0: 1000
	MaxAll      int           // maximum number of open sessions in total; 0: 10000
	MaxRequests int           // maximum number of open requests per principal, including streams; 0: 5000. All principals together may have four times as many
	BodyTimeout time.Duration // how long a client may take to send a message; 0: 30 seconds

	// Beside answers requests for paths other than the endpoint. It returns false for unknown
	// paths. A caller is trusted if it has a token for the endpoint, or if it runs on this machine
	// and no token is required. Beside must not block. nil: there are no other paths.
	Beside func(w http.ResponseWriter, r *http.Request, trusted bool) bool
}

// JWT makes the endpoint an OAuth 2.1 resource server. The principal of a token consists of the
// token's issuer and subject.
type JWT = access.JWT

// defaultPath is the default path of the endpoint.
const defaultPath = "/mcp"

func (a Access) path() string { return cmp.Or(a.Path, defaultPath) }

// Several reports whether more than one principal can use the endpoint.
func (a Access) Several() bool {
	return a.JWT != nil || len(a.Tokens) > 1 || len(a.Tokens) == 1 && a.Token != ""
}

// guard returns the guard of the endpoint. If there is an issuer, the guard starts to fetch the
// issuer's keys.
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
			JWT: *j, Path: a.path(), Logger: f.Life.Log, Now: f.Life.Now,
			Background: func(run func(context.Context)) { f.Life.Background(func() { run(f.Life.Ctx) }) },
		}
	}
	return httpguard.New(o)
}

// Defaults for [Access].
const (
	defaultSessions    = 1000
	defaultSessionsAll = 10_000
)

// A sessionLimit limits the number of open HTTP sessions, because a client can open a session with
// a single request.
type sessionLimit struct {
	each, all int

	mu sync.Mutex // held while sessions are counted and another one is opened
}

func newSessionLimit(a Access) *sessionLimit {
	each := cmp.Or(a.MaxSessions, defaultSessions)
	return &sessionLimit{each: each, all: cmp.Or(a.MaxAll, max(defaultSessionsAll, each))}
}

// open opens a session and returns its client. If the limit does not allow another session, open
// returns the reason.
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
