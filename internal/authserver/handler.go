package authserver

import (
	"net/http"
	"slices"
	"strings"
)

// ServeHTTP serves the MCP resource and all endpoints of the authorization server.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o := s.options
	server := "/.well-known/oauth-authorization-server" + o.Issuer
	if o.OpenID {
		server = o.Issuer + "/.well-known/openid-configuration"
	}
	switch r.URL.Path {
	case "/mcp":
		s.serveResource(w, r)
	case "/.well-known/oauth-protected-resource/mcp":
		if o.Silent {
			http.NotFound(w, r)
			return
		}
		s.answer(w, "resource", map[string]any{
			"resource": s.base + "/mcp", "authorization_servers": []string{s.base + o.Issuer}, "scopes_supported": o.Scopes,
		})
	case server:
		s.answer(w, "server", s.metadata())
	case "/register":
		s.register(w, r)
	case "/authorize":
		s.authorize(w, r)
	case "/token":
		s.token(w, r)
	case "/revoke":
		s.revoke(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) metadata() map[string]any {
	m := map[string]any{
		"issuer": s.base + s.options.Issuer, "authorization_endpoint": s.base + "/authorize", "token_endpoint": s.base + "/token",
		"revocation_endpoint": s.base + "/revoke", "response_types_supported": []string{"code"},
		"code_challenge_methods_supported": []string{"S256"}, "scopes_supported": s.options.Offers,
		"token_endpoint_auth_methods_supported":          []string{"none", "client_secret_basic"},
		"client_id_metadata_document_supported":          s.options.Documents,
		"authorization_response_iss_parameter_supported": s.options.Iss,
	}
	if !s.options.Closed {
		m["registration_endpoint"] = s.base + "/register"
	}
	if s.options.Secrets {
		m["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
	}
	return m
}

// answer passes the metadata document m to [Options.Change], which may modify it, and sends it as
// the response.
func (s *Server) answer(w http.ResponseWriter, what string, m map[string]any) {
	if s.options.Change != nil {
		s.options.Change(what, m)
	}
	writeJSON(w, http.StatusOK, m)
}

// serveResource passes a request to the resource if its token is valid and has the required scopes.
func (s *Server) serveResource(w http.ResponseWriter, r *http.Request) {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	t := s.access[text]
	wanted := s.required
	good := ok && t != nil && s.options.Now().Before(t.expires) && t.resource == s.base+"/mcp"
	enough := good && !slices.ContainsFunc(wanted, func(scope string) bool { return !slices.Contains(t.scopes, scope) })
	s.mu.Unlock()
	challenge := `Bearer realm="mcp"`
	if !s.options.NoHint && !s.options.Silent {
		challenge += `, resource_metadata="` + s.base + `/.well-known/oauth-protected-resource/mcp"`
	}
	if len(wanted) > 0 {
		challenge += `, scope="` + strings.Join(wanted, " ") + `"`
	}
	switch {
	case enough:
		r.Header.Del("Authorization")
		s.resource.ServeHTTP(w, r)
	case good:
		s.count("forbidden")
		w.Header().Set("WWW-Authenticate", challenge+`, error="insufficient_scope"`)
		fail(w, http.StatusForbidden, "insufficient_scope")
	default:
		s.count("unauthorized")
		w.Header().Set("WWW-Authenticate", challenge)
		fail(w, http.StatusUnauthorized, "invalid_token")
	}
}
