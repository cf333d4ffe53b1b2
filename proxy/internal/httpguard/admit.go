package httpguard

import "net/http"

// Admit returns the sender of the request. The caller must call Release on it. If Admit rejects the
// request, it writes an error response and returns false.
func (g *Guard) Admit(w http.ResponseWriter, r *http.Request) (Caller, bool) {
	v, ok := g.authenticate(w, r)
	return v, ok && g.requests.admit(w, v.Principal)
}

// authenticate checks Host, Origin and token, in this order. It returns the sender of the request.
func (g *Guard) authenticate(w http.ResponseWriter, r *http.Request) (Caller, bool) {
	if !g.allow(w, r) {
		return Caller{}, false
	}
	if g.open {
		return Caller{Principal: "anonymous", guard: g}, true
	}
	token := bearer(r.Header["Authorization"])
	if g.jwt != nil {
		return g.authenticateJWT(w, r, token)
	}
	if principal, ok := g.tokens.principal(token); ok {
		return Caller{Principal: principal, guard: g}, true
	}
	refuseToken(w, http.StatusUnauthorized, `Bearer realm="petrigate"`, "a bearer token is required")
	return Caller{}, false
}

// authenticateJWT authenticates the sender with a JWT. Its errors never quote the token.
func (g *Guard) authenticateJWT(w http.ResponseWriter, r *http.Request, token string) (Caller, bool) {
	grant, err := g.jwt.Verify(r.Context(), token)
	if err != nil {
		status, challenge := g.jwt.Answer(err)
		refuseToken(w, status, challenge, err.Error())
		return Caller{}, false
	}
	return Caller{Principal: grant.Principal, until: grant.Expires, guard: g}, true
}
