package authserver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// register handles a request for dynamic client registration (RFC 7591).
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var wanted struct {
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
	}
	if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil || len(wanted.Redirects) == 0 || s.options.Closed {
		fail(w, http.StatusBadRequest, "invalid_client_metadata")
		return
	}
	s.count("register")
	c, id := &client{redirects: wanted.Redirects}, "client-"+secret()
	answer := map[string]any{"client_id": id, "redirect_uris": wanted.Redirects, "token_endpoint_auth_method": "none"}
	if s.options.Secrets {
		c.secret = secret()
		answer["client_secret"], answer["token_endpoint_auth_method"] = c.secret, "client_secret_basic"
	}
	s.mu.Lock()
	s.clients[id] = c
	s.mu.Unlock()
	writeJSON(w, http.StatusCreated, answer)
}

// authorize gives consent and redirects the browser with an authorization code.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	s.count("authorize")
	q := r.URL.Query()
	id, redirect := q.Get("client_id"), q.Get("redirect_uri")
	back, err := url.Parse(redirect)
	if err != nil || !s.allowsRedirect(id, redirect) {
		http.Error(w, "unknown client or redirect", http.StatusBadRequest)
		return
	}
	answer := map[string]any{"state": q.Get("state")}
	if s.options.Iss {
		answer["iss"] = s.base + s.options.Issuer
	}
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || q.Get("resource") != s.base+"/mcp" {
		answer["error"] = "invalid_request"
	} else {
		c := secret()
		s.mu.Lock()
		s.codes[c] = &code{client: id, redirect: redirect, challenge: q.Get("code_challenge"), resource: q.Get("resource"), scopes: strings.Fields(q.Get("scope"))}
		s.mu.Unlock()
		answer["code"] = c
	}
	if s.options.Change != nil {
		s.options.Change("redirect", answer)
	}
	values := url.Values{}
	for name, value := range answer {
		values.Set(name, value.(string))
	}
	back.RawQuery = values.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// allowsRedirect reports whether the client may use the redirect URI.
func (s *Server) allowsRedirect(id, redirect string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[id]
	if c == nil {
		return s.options.Documents && strings.HasPrefix(id, "https://")
	}
	return c.redirects == nil || slices.Contains(c.redirects, redirect)
}

// token handles a request to the token endpoint.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || r.Method != http.MethodPost {
		fail(w, http.StatusBadRequest, "invalid_request")
		return
	}
	grant := r.PostForm.Get("grant_type")
	s.count(grant)
	s.recordRequest(r.PostForm)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		http.Error(w, "out of order", http.StatusServiceUnavailable)
		return
	}
	id, ok := s.authenticated(r)
	if !ok {
		fail(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	if r.PostForm.Get("resource") != s.base+"/mcp" {
		fail(w, http.StatusBadRequest, "invalid_target")
		return
	}
	var t *token
	switch grant {
	case "authorization_code":
		t = s.redeem(id, r.PostForm)
	case "refresh_token":
		t = s.renew(id, r.PostForm)
	case "client_credentials":
		if c := s.clients[id]; c != nil && c.secret != "" {
			t = &token{client: id, scopes: strings.Fields(r.PostForm.Get("scope"))}
		}
	}
	if t == nil {
		fail(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	t.resource = r.PostForm.Get("resource")
	s.issue(w, t, grant != "client_credentials")
}

// recordRequest stores the parameters of a token request for [Server.Asked], without secrets.
func (s *Server) recordRequest(form url.Values) {
	asked := map[string]string{}
	for _, name := range []string{"grant_type", "resource", "scope", "redirect_uri", "client_id"} {
		if form.Has(name) {
			asked[name] = form.Get(name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, asked)
}

// authenticated returns the ID of the client that sent the request, and reports whether the client
// authenticated itself. It must be called with mu held.
func (s *Server) authenticated(r *http.Request) (string, bool) {
	id, shown, basic := r.BasicAuth()
	if basic { // the client has URL-encoded the ID and the secret before joining them with a colon (RFC 6749, section 2.3.1)
		id, _ = url.QueryUnescape(id)
		shown, _ = url.QueryUnescape(shown)
	} else {
		id, shown = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	c := s.clients[id]
	if c == nil {
		return id, s.options.Documents && strings.HasPrefix(id, "https://")
	}
	return id, c.secret == shown && (c.secret == "" || basic)
}

// redeem exchanges an authorization code for tokens. A code can be used only once.
func (s *Server) redeem(id string, form url.Values) *token {
	c := s.codes[form.Get("code")]
	delete(s.codes, form.Get("code"))
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	if c == nil || c.client != id || c.redirect != form.Get("redirect_uri") || c.resource != form.Get("resource") ||
		c.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		return nil
	}
	return &token{client: id, scopes: c.scopes, family: secret()}
}

// renew exchanges a refresh token for new tokens, or returns nil if this is not possible. If the
// refresh token has already been used, it may have been stolen, so renew invalidates all tokens of
// the login.
func (s *Server) renew(id string, form url.Values) *token {
	t := s.refresh[form.Get("refresh_token")]
	if t == nil || t.client != id {
		return nil
	}
	if t.used {
		s.counts["replayed"]++
		s.endFamily(t.family)
		return nil
	}
	t.used = true
	return &token{client: id, scopes: t.scopes, family: t.family}
}

func (s *Server) endFamily(family string) {
	ofFamily := func(_ string, t *token) bool { return t.family == family }
	maps.DeleteFunc(s.access, ofFamily)
	maps.DeleteFunc(s.refresh, ofFamily)
}

func (s *Server) issue(w http.ResponseWriter, t *token, refreshable bool) {
	access := "access-" + secret()
	t.expires = s.options.Now().Add(s.options.Lifetime)
	s.access[access] = t
	answer := map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": int(s.options.Lifetime.Seconds()), "scope": strings.Join(t.scopes, " "),
	}
	if refreshable {
		again := "refresh-" + secret()
		s.refresh[again] = t
		answer["refresh_token"] = again
	}
	writeJSON(w, http.StatusOK, answer)
}

// revoke invalidates the given token and all other tokens of the same login (RFC 7009).
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // a parameter that cannot be parsed counts as missing
	s.count("revoke")
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.authenticated(r); !ok {
		fail(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	for _, tokens := range []map[string]*token{s.access, s.refresh} {
		if t := tokens[r.PostForm.Get("token")]; t != nil {
			s.endFamily(t.family)
		}
	}
}
