package authserver

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Options configures a [Server]. With the zero value, clients can register, and access tokens are
// valid for one hour.
type Options struct {
	Lifetime  time.Duration     // how long access tokens are valid; 0 means one hour
	Now       func() time.Time  // returns the current time; nil means time.Now
	Scopes    []string          // scopes that the resource initially requires
	Offers    []string          // scopes announced as scopes_supported in the metadata of the authorization server
	Clients   map[string]string // secrets of initially registered clients, keyed by client ID
	Closed    bool              // whether to reject client registrations
	Documents bool              // whether to accept URLs as client IDs
	Secrets   bool              // whether to give a secret for HTTP basic authentication to each client that registers
	Issuer    string            // path of the issuer, such as /tenant; may be empty
	OpenID    bool              // whether to publish the metadata as specified by OpenID Connect Discovery
	NoHint    bool              // whether to omit the URL of the metadata from 401 responses
	Silent    bool              // whether to omit the protected resource metadata
	Iss       bool              // whether to name the issuer in authorization responses, and to announce this in the metadata

	// Change lets a test modify a response before it is sent, for example to make it invalid. The
	// first argument identifies the response: "resource" for the metadata of the resource, "server"
	// for the metadata of the authorization server, or "redirect" for a redirect. The second
	// argument holds the members of the metadata document or the query parameters of the redirect.
	Change func(what string, answer map[string]any)
}

// A Server is an authorization server. It also serves a protected resource at /mcp.
type Server struct {
	options  Options
	resource http.Handler

	mu       sync.Mutex
	base     string
	clients  map[string]*client
	codes    map[string]*code
	access   map[string]*token
	refresh  map[string]*token
	required []string // scopes that the resource currently requires
	down     bool
	counts   map[string]int
	asked    []map[string]string // parameters of all token requests, without secrets
}

type client struct {
	secret    string
	redirects []string
}

type code struct {
	client, redirect, challenge, resource string
	scopes                                []string
}

// A token is an access or refresh token.
type token struct {
	client, resource, family string
	scopes                   []string
	expires                  time.Time
	used                     bool
}

// New returns a server that protects the given resource. [Server.At] must be called before the
// server receives its first request.
func New(resource http.Handler, o Options) *Server {
	o.Lifetime = cmp.Or(o.Lifetime, time.Hour)
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

// Revoke invalidates all tokens.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	clear(s.refresh)
}

// Expire invalidates all access tokens. Refresh tokens remain valid.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Want adds scopes to those that the resource requires.
func (s *Server) Want(scopes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.required = append(slices.Clone(s.required), scopes...)
}

// Fail determines whether the token endpoint responds to every request with status 503.
func (s *Server) Fail(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// Count returns the number of requests of the given kind. The kinds "authorize", "revoke" and the
// grant types count requests to the authorization server, whether or not they succeed. The kind
// "register" counts clients that have registered. The kinds "unauthorized" and "forbidden" count
// requests that the resource rejected. The kind "replayed" counts attempts to use a refresh token a
// second time.
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

// Live returns all valid tokens, so that tests can check that none of them appear in any output.
func (s *Server) Live() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.AppendSeq(slices.Collect(maps.Keys(s.access)), maps.Keys(s.refresh))
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
