package httpguard

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// A Caller is the authenticated sender of a request.
type Caller struct {
	Principal string

	until time.Time // time when the caller's token expires and the caller's streams must end; zero if the token does not expire
	guard *Guard
}

// Release must be called once, when the request has been answered. It does nothing on the zero
// Caller.
func (c Caller) Release() {
	if c.guard != nil {
		c.guard.requests.Give(c.Principal, 1)
	}
}

// Stream returns a context for one of the caller's streams. The context is done when the token
// expires.
func (c Caller) Stream(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.until.IsZero() {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.until.Sub(c.guard.now()))
}

// Body reads the whole message, within the limits. If that fails, it writes an error response and
// returns false. The caller must call release when it no longer needs the body.
func (c Caller) Body(w http.ResponseWriter, r *http.Request) (body []byte, release func(), ok bool) {
	limit := int64(c.guard.maxMessage)
	refuse := func(text string, status int) ([]byte, func(), bool) {
		w.Header()["Connection"] = closing // otherwise, net/http would read the rest of the body
		http.Error(w, text, status)
		return nil, nil, false
	}
	const tooLarge = "the message exceeds this proxy's limit"
	if r.ContentLength > limit {
		return refuse(tooLarge, http.StatusRequestEntityTooLarge)
	}
	reader := http.MaxBytesReader(w, r.Body, limit)
	release = func() {}
	var err error
	if r.ContentLength >= 0 && r.ContentLength <= maxUncounted {
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(reader, body)
	} else {
		body, release, err = c.guard.bodies.read(reader, r.ContentLength, c.Principal)
	}
	switch {
	case err == nil:
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the request may wait a long time for a person's answer
		return body, release, true
	case errors.As(err, new(*http.MaxBytesError)):
		return refuse(tooLarge, http.StatusRequestEntityTooLarge)
	case errors.Is(err, errTooMuch):
		w.Header().Set("Retry-After", "1")
		return refuse(err.Error(), http.StatusServiceUnavailable)
	default:
		return refuse("the body ended early", http.StatusBadRequest)
	}
}

// Admit returns the sender of the request. The caller must later call the sender's Release method.
// If Admit rejects the request, it writes an error response and returns false; Release must then
// not be called.
func (g *Guard) Admit(w http.ResponseWriter, r *http.Request) (Caller, bool) {
	v, ok := g.authenticate(w, r)
	return v, ok && g.requests.admit(w, v.Principal)
}

// authenticate checks Host, Origin and token, in this order, and returns the sender of the request.
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
