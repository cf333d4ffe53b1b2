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

// Access says who may use the HTTP endpoint. The zero value is refused: set one of Token,
// Tokens and JWT, or Open on a loopback address.
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
	Hooks   bool              // agents may tell of calls that they make by themselves, at /hook/AGENT

	IdleTTL     time.Duration // of sessions; 0: an hour
	MaxSessions int           // that one principal may have at a time; 0: 1000
	MaxAll      int           // that all of them may have; 0: 10000
	MaxRequests int           // that one principal may have open, streams too; 0: 5000; all may have four times that
	BodyTimeout time.Duration // for a client to send a message; 0: 30 s

	// Beside answers requests of other paths than that of the endpoint, and reports false for
	// those that it does not know; nil: there are none. A caller with a token of the endpoint,
	// or without a token on this very machine, is trusted. It must not block.
	Beside func(w http.ResponseWriter, r *http.Request, trusted bool) bool
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

// defaultPath is that of the endpoint.
const defaultPath = "/mcp"

func (a Access) path() string { return cmp.Or(a.Path, defaultPath) }

// Several reports whether more than one principal may use the endpoint.
func (a Access) Several() bool {
	return a.JWT != nil || len(a.Tokens) > 1 || len(a.Tokens) == 1 && a.Token != ""
}

// guard returns the guard of the endpoint, which begins to fetch the keys of the issuer
// if there is one.
func (f *Front) guard(a Access) (*httpguard.Guard, error) {
	if a.path()[0] != '/' {
		return nil, fmt.Errorf("the path of the endpoint is %q, and it must begin with a slash", a.Path)
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

// sessionLimit bounds the sessions over HTTP that are open at a time, since a client can
// open a session by one request.
type sessionLimit struct {
	each, all int

	mu sync.Mutex // held from counting to opening
}

func newSessionLimit(a Access) *sessionLimit {
	each := cmp.Or(a.MaxSessions, defaultSessions)
	return &sessionLimit{each: each, all: cmp.Or(a.MaxAll, max(defaultSessionsAll, each))}
}

// open opens a session with its client, or returns why the limit forbids it.
func (s *sessionLimit) open(f *Front, principal, transport string, header http.Header, out spec.Stream) (c *session.Client, refusal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, all := f.Sessions.CountHTTP(principal)
	const wayOut = "; end one that is not used any more (DELETE), or wait until idle ones have ended"
	switch {
	case own >= s.each:
		return nil, fmt.Sprintf("you have %d open sessions, and no more are allowed (listen.maxSessions)", own) + wayOut
	case all >= s.all:
		return nil, fmt.Sprintf("this proxy has %d open sessions, and no more are allowed (listen.maxSessionsTotal)", all) + wayOut
	}
	c, err := f.Sessions.Connect(transport, principal, header, out)
	if err != nil {
		return nil, err.Error()
	}
	return c, ""
}
