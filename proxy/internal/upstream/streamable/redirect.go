package streamable

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

var (
	ErrOtherOrigin = errors.New("the address is of another origin")
	errNoAddress   = errors.New("this is no address")
)

// maxRedirects limits the redirects that one handshake follows.
const maxRedirects = 3

// A Moved error is a redirect to another path on the same origin. Only a handshake follows it.
type Moved struct {
	conn.StatusError
	to string
}

// Unwrap returns the status without the address.
func (e *Moved) Unwrap() error { return &e.StatusError }

// followRedirect reports whether err is a redirect to follow, and directs later requests there.
func (c *Conn) followRedirect(err error) bool {
	var moved *Moved
	if !errors.As(err, &moved) {
		return false
	}
	c.MoveTo(moved.to)
	return true
}

// redirected returns the error for a redirect: [Moved] if it stays on the same origin. It returns
// nil for other responses.
func (c *Conn) redirected(response *http.Response) error {
	if response.StatusCode/100 != 3 {
		return nil
	}
	status := conn.StatusError{Code: response.StatusCode, Excerpt: "the server redirects, which is not followed"}
	to, err := SameOrigin(c.Address(), response.Header.Get("Location"))
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if err == nil {
			return &Moved{status, to}
		}
	}
	if errors.Is(err, ErrOtherOrigin) {
		status.Excerpt = "the server redirects to another address" + c.host(response) + ", which is not followed"
	}
	return &status
}

// host returns the origin of a redirect's target for an error text, or an empty string.
func (c *Conn) host(response *http.Response) string {
	to, err := response.Location()
	if err != nil {
		return ""
	}
	return " (" + c.redact(to.Scheme+"://"+to.Host) + ")"
}

// SameOrigin resolves reference against base. The result has the scheme, host, port and user of
// base. It returns [ErrOtherOrigin] for another origin, because the proxy's credentials would go
// where the server wants them.
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

// redact removes the values of the proxy's headers from a text: a server can echo the headers of a
// request.
func (c *Conn) redact(text string) string {
	if value := c.authorized.Load(); value != nil { // of the last request
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
