package authserver

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Options configures a Server. The zero value registers clients and issues tokens for an hour.
type Options struct {
	Lifetime  time.Duration     // lifetime of access tokens; 0: an hour
	Now       func() time.Time  // nil: time.Now
	Scopes    []string          // scopes that the resource requires at first
	Offers    []string          // scopes_supported of the authorization server
	Clients   map[string]string // secrets of clients that are registered from the start
	Closed    bool              // clients cannot be registered
	Documents bool              // URLs are accepted as client ids
	Secrets   bool              // registered clients get a secret, for HTTP basic authentication
	Issuer    string            // path of the issuer, such as /tenant; "": no path
	OpenID    bool              // publish the metadata as OpenID Connect Discovery
	NoHint    bool              // the 401 response does not name the metadata
	Silent    bool              // no protected resource metadata at all
	Iss       bool              // authorization responses name the issuer, and the metadata announce it

	// Change lets a test falsify responses: the metadata of the "resource" and the "server", and
	// the query of the "redirect".
	Change func(what string, answer map[string]any)
}

// A Server is an authorization server and, at /mcp, a resource.
type Server struct {
	options  Options
	resource http.Handler

	mu       sync.Mutex
	base     string
	clients  map[string]*client
	codes    map[string]*code
	access   map[string]*token
	refresh  map[string]*token
	required []string // scopes that the resource requires now
	down     bool
	counts   map[string]int
	asked    []map[string]string // parameters of token requests, without secrets
}

type client struct {
	secret    string
	redirects []string
}

type code struct {
	client, redirect, challenge, resource string
	scopes                                []string
}

// A token is the data of an access or refresh token.
type token struct {
	client, resource, family string
	scopes                   []string
	expires                  time.Time
	used                     bool
}

// New returns a server in front of resource. The caller must call At before the first request.
func New(resource http.Handler, o Options) *Server {
	if o.Lifetime == 0 {
		o.Lifetime = time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{
		options: o, resource: resource, required: o.Scopes, counts: map[string]int{},
		clients: map[string]*client{}, codes: map[string]*code{}, access: map[string]*token{}, refresh: map[string]*token{},
	}
	for id, secret := range o.Clients {
		s.clients[id] = &client{secret: secret}
	}
	return s
}

// At sets the origin of the server's URLs.
func (s *Server) At(origin string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.base = origin
}

// Revoke ends all tokens.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	clear(s.refresh)
}

// Expire ends the access tokens. Refresh tokens stay valid.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Want makes the resource require more scopes.
func (s *Server) Want(scopes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.required = append(slices.Clone(s.required), scopes...)
}

// Fail makes the token endpoint answer with status 503, or stops that.
func (s *Server) Fail(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// Count returns how often something was requested: authorize, a grant type, register, revoke, or
// unauthorized and forbidden requests to the resource.
func (s *Server) Count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[what]
}

// Asked returns the parameters of all token requests, without secrets.
func (s *Server) Asked() []map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Live returns the valid tokens, which must not appear in any output.
func (s *Server) Live() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, tokens := range []map[string]*token{s.access, s.refresh} {
		for text := range tokens {
			all = append(all, text)
		}
	}
	return all
}

func (s *Server) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, status int, code string) {
	writeJSON(w, status, map[string]string{"error": code})
}

func secret() string { return rand.Text() }
