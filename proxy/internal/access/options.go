package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"
)

// A JWT describes the tokens that a [Verifier] accepts.
type JWT struct {
	Issuer         string   // value of the claim iss that tokens must have
	Audience       string   // value of the claim aud that tokens must have
	JWKS           string   // URL of the issuer's keys; empty: the URL in the issuer's metadata
	Resource       string   // public URL of this endpoint; empty: the same as Audience
	PrincipalClaim string   // claim that identifies the caller; empty: sub
	Scopes         []string // scopes that a token must have; every listed scope is required
}

// Options configures a [Verifier].
type Options struct {
	JWT
	Path string // path of this endpoint; empty: /mcp

	Client *http.Client     // client for fetching the keys; nil: a client that follows no redirects
	Logger *slog.Logger     // nil: discard
	Now    func() time.Time // nil: time.Now

	// Background starts a function that fetches keys, and returns without waiting for it. The
	// context that it passes to the function must end at shutdown. If Background is nil, the
	// function runs in a new goroutine and is not ended at shutdown.
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

// newClient returns an HTTP client. The client follows no redirects, because the operator has
// configured the address of the keys. It keeps no idle connections, because it is rarely used.
func newClient() *http.Client {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.DisableKeepAlives = true
		client.Transport = t
	}
	return client
}

// Trustworthy returns an error if documents from the address could be forged on the way. An address
// is trustworthy if it uses https or is on this machine.
func Trustworthy(address string) error {
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
