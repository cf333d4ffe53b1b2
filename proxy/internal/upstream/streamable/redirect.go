package streamable

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

var (
	ErrOtherOrigin = errors.New("the address has another origin")
	errNoAddress   = errors.New("this is not an address")
)

// maxRedirects is the maximum number of redirects that a handshake follows.
const maxRedirects = 3

// A Moved error is a redirect to another path on the same origin. Only a handshake follows it.
type Moved struct {
	conn.StatusError
	to string
}

// Unwrap returns the status error, which does not contain the address.
func (e *Moved) Unwrap() error { return &e.StatusError }

// followRedirect reports whether err is a redirect that must be followed. If so, later requests go
// to its target.
func (c *Conn) followRedirect(err error) bool {
	var moved *Moved
	if !errors.As(err, &moved) {
		return false
	}
	c.MoveTo(moved.to)
	return true
}

// redirected returns the error for a redirect. The error is a [Moved] if the target is on the same
// origin. If the response is not a redirect, it returns nil.
func (c *Conn) redirected(response *http.Response) error {
	if response.StatusCode/100 != 3 {
		return nil
	}
	status := conn.StatusError{Code: response.StatusCode, Excerpt: "the server redirects, which petrigate does not follow"}
	to, err := SameOrigin(c.Address(), response.Header.Get("Location"))
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if err == nil {
			return &Moved{status, to}
		}
	}
	if errors.Is(err, ErrOtherOrigin) {
		status.Excerpt = "the server redirects to another address" + c.host(response) + ", which petrigate does not follow"
	}
	return &status
}

// host returns the origin of a redirect's target for use in an error message, or "" if it cannot be
// determined.
func (c *Conn) host(response *http.Response) string {
	to, err := response.Location()
	if err != nil {
		return ""
	}
	return " (" + c.redact(to.Scheme+"://"+to.Host) + ")"
}

// SameOrigin resolves reference against base. The result has the scheme, host, port and user of
// base. If the origin is a different one, SameOrigin returns [ErrOtherOrigin], because the server
// could otherwise choose where the proxy's credentials are sent.
func SameOrigin(base, reference string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", errNoAddress
	}
	r, err := b.Parse(reference)
	if err != nil || reference == "" {
		return "", errNoAddress
	}
	if r.Scheme != b.Scheme || !strings.EqualFold(hostPort(r), hostPort(b)) || r.User != nil && r.User.String() != b.User.String() {
		return "", ErrOtherOrigin
	}
	r.User, r.Fragment = b.User, ""
	return r.String(), nil
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Hostname() + ":" + port
}

// redact removes the values of the proxy's headers from text, because a server may repeat the
// headers of a request in its response.
func (c *Conn) redact(text string) string {
	if value := c.authorized.Load(); value != nil { // header of the last request
		_, token, _ := strings.Cut(*value, " ")
		text = strings.ReplaceAll(text, token, "[redacted]")
	}
	for _, value := range c.Host.Config.Headers {
		for _, secret := range append(strings.Fields(value), value) {
			if len(secret) > 5 && !strings.EqualFold(secret, "bearer") {
				text = strings.ReplaceAll(text, secret, "[redacted]")
			}
		}
	}
	return text
}
