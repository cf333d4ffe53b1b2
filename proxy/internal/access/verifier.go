package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// A Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	options   Options
	keys      *keys
	memory    grantCache
	resource  *url.URL
	challenge string
}

// A Kind classifies a [Denial] by its reason.
type Kind int

// Kinds of denials.
const (
	Missing     Kind = iota // the token is missing
	Invalid                 // the token is invalid
	Scope                   // the token is valid but lacks a required scope
	Unavailable             // the token cannot be verified, because the issuer's keys are unavailable
)

// A Denial explains why [Verifier.Verify] has rejected a token. Its text contains no part of the
// token and may be sent to the client.
type Denial struct {
	Kind   Kind
	Reason string
}

func (d *Denial) Error() string { return d.Reason }

func invalid(reason string) error { return &Denial{Kind: Invalid, Reason: reason} }

// A Grant is the result of a successful verification.
type Grant struct {
	Principal string    // issuer and subject, which together identify the caller
	Expires   time.Time // the token's expiry time, plus the leeway
}

// maxRemembered is the maximum number of cached grants.
const maxRemembered = 4096

// A grantCache caches the grants of valid tokens, because verifying a signature takes longer than
// the rest of a call. Each grant is stored under a digest of its token, and is invalid once the
// issuer's key set has been fetched again or dropped.
type grantCache struct {
	mu     sync.Mutex
	grants map[[sha256.Size]byte]remembered
}

type remembered struct {
	grant Grant
	set   int // version number of the key set when the verification of the token began
}

// get returns the cached grant for a token that was verified with the given key set and has not
// expired.
func (m *grantCache) get(digest [sha256.Size]byte, set int, now time.Time) (Grant, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.grants[digest]
	if !ok || r.set != set || !now.Before(r.grant.Expires) {
		return Grant{}, false
	}
	return r.grant, true
}

func (m *grantCache) put(digest [sha256.Size]byte, set int, g Grant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.grants == nil || len(m.grants) >= maxRemembered {
		m.grants = map[[sha256.Size]byte]remembered{}
	}
	m.grants[digest] = remembered{g, set}
}

// A JWT configures which tokens a [Verifier] accepts.
type JWT struct {
	Issuer         string   // required value of the iss claim
	Audience       string   // required value of the aud claim
	JWKS           string   // URL of the issuer's keys; empty means the URL in the issuer's metadata
	Resource       string   // public URL of this endpoint; empty means the same as Audience
	PrincipalClaim string   // claim that identifies the caller; empty means sub
	Scopes         []string // required scopes; a token must have all of them
}

// Options configures a [Verifier].
type Options struct {
	JWT
	Path string // path of this endpoint; empty means /mcp

	Client *http.Client     // client for fetching the keys; nil means a client that follows no redirects
	Logger *slog.Logger     // logs failed fetches; if nil, nothing is logged
	Now    func() time.Time // returns the current time; nil means time.Now

	// Background starts the given function, which fetches keys, and returns without waiting for it.
	// It passes the function a context that must be canceled at shutdown. If Background is nil, the
	// function runs in a new goroutine, which may still be running after the shutdown.
	Background func(func(context.Context))
}

func (o Options) withDefaults() Options {
	o.Path = cmp.Or(o.Path, "/mcp")
	o.PrincipalClaim = cmp.Or(o.PrincipalClaim, "sub")
	o.Client = cmp.Or(o.Client, newClient())
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Background == nil {
		o.Background = func(f func(context.Context)) { go f(context.Background()) }
	}
	return o
}

// newClient returns an HTTP client for fetching keys. It follows no redirects, because keys must
// come only from the address that the operator has configured. It keeps no idle connections,
// because it is rarely used.
func newClient() *http.Client {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.DisableKeepAlives = true
		client.Transport = t
	}
	return client
}

// checkTrustworthy returns an error if the address neither uses https nor is on this machine.
// Someone on the network could then forge the documents fetched from it.
func checkTrustworthy(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q is not a URL", address)
	case u.User != nil:
		return errors.New("a URL must not contain credentials")
	case u.Scheme == "https":
		return nil
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%q must begin with https://", address)
}
