package streamable

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

var (
	errNoAnswer  = errors.New("the server accepted the request but sent no answer")
	errStreamEnd = errors.New("the server ended the stream without an answer")
	ErrCancelled = errors.New("the request was cancelled")
)

// lostError returns the error for an exchange x that failed with the transport error err. If the
// server is unreachable, it also ends the connection.
func (c *Conn) lostError(x *conn.Exchange, err error, sent bool) error {
	switch {
	case errors.As(err, new(*Unauthorized)):
		return conn.NotSent(err)
	case errors.Is(err, conn.ErrNotSent): // the server refused the request, and checkResend returned an error
		return err
	}
	open, cause := c.cause(x, err)
	if sent {
		return &conn.Lost{Sent: true, Cause: cause}
	}
	if open {
		c.Fail(cause)
	}
	return conn.NotSent(cause)
}

// cause returns the error to report for the exchange x, which has failed with the transport error
// err. If the proxy itself has ended the exchange, the first result is false.
func (c *Conn) cause(x *conn.Exchange, err error) (open bool, cause error) {
	switch {
	case c.ctx.Err() != nil:
		return false, process.ErrClosed
	case x.Ctx.Err() != nil || errors.Is(err, conn.ErrBodyGone):
		return false, ErrCancelled
	}
	return true, c.TransportError(err)
}

// TransportError returns err without the URL, which may contain a secret.
func (c *Conn) TransportError(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if text := err.Error(); c.redact(text) != text {
		return errors.New(c.redact(text))
	}
	return err
}

func (c *Conn) StatusError(response *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(response.Body, ExcerptLimit))
	return c.status(response, data)
}

func (c *Conn) status(response *http.Response, data []byte) error {
	if response.StatusCode/100 == 3 {
		return c.redirectError(response)
	}
	return &conn.StatusError{Code: response.StatusCode, Excerpt: text.Excerpt(c.redact(string(data)), 200)}
}

// errUnknownSession means that the server refused a request because it no longer knows the session.
var errUnknownSession = errors.New("the server no longer knows the session")

// codeUnknownSession is the JSON-RPC error code used by MCP SDKs for an unknown session, but also
// for other errors.
const codeUnknownSession = "-32001"

// unknownSession matches error messages about an unknown MCP session. It matches only at the
// beginning of a message, because a tool may have its own sessions and report, for example,
// "browser session not found".
var unknownSession = regexp.MustCompile(`(?i)^\W*(?:(?:error|bad request|not found|invalid request)[:. ]+)?(?:` +
	`(?:no|invalid|unknown|expired|stale|missing|invalid or expired)(?: valid| active| such)?(?: mcp)?[ -]session\b` +
	`|(?:the |your )?(?:mcp[ -])?session(?:[ -]?id)?(?:[ :]+\S+)? (?:is |was |has |has been |does |do )?` +
	`(?:not (?:found|known|valid|exist|initialized|recognized)|no longer|unknown|invalid|expired|terminated|closed|gone)\b` +
	`|(?:the )?server (?:is )?not initialized\b)`)

// mayRenew reports whether x can be sent again in a new session after the server has forgotten the
// session s. It returns false if x is part of a handshake, or if the server does not use session
// IDs.
func mayRenew(x *conn.Exchange, s *conn.Session) bool {
	return x.Req.Session == nil && s.ID != "" && s.Rev() == rev.Rev2025
}

// droppedByStatus reports whether the HTTP status of a response means that the server no longer
// knows the session, so that x can be sent again. The specification requires status 404, but some
// servers send 410, or 400 with a message about the session. If x has already been sent again,
// droppedByStatus returns false.
func droppedByStatus(x *conn.Exchange, s *conn.Session, status int, body []byte) bool {
	if x.Renewed || !mayRenew(x, s) {
		return false
	}
	switch status {
	case http.StatusNotFound, http.StatusGone:
		return true
	case http.StatusBadRequest:
		return unknownSession.Match(errorMessage(body))
	}
	return false
}

// dropped reports whether a JSON-RPC error means that the server no longer knows the session, so
// that x can be sent again. If x gets the same error in a new session, the server means its own
// sessions, not the MCP session. From then on, dropped returns false for all errors on this
// connection.
func (c *Conn) dropped(x *conn.Exchange, s *conn.Session, refusal []byte) bool {
	if len(refusal) == 0 || !mayRenew(x, s) {
		return false
	}
	code, _ := rawjson.Member(refusal, "code")
	if string(code) != codeUnknownSession || !unknownSession.Match(errorMessage(refusal)) {
		return false
	}
	if x.Renewed {
		c.otherSessions.Store(true)
	}
	return !c.otherSessions.Load()
}

// errorMessage returns the message of a JSON-RPC error, of a response with such an error, or of a
// web framework's error object. For anything else, it returns body.
func errorMessage(body []byte) []byte {
	if inner, ok := rawjson.Member(body, "error"); ok && rawjson.Kind(inner) == '{' {
		body = inner
	}
	for _, member := range [...]string{"message", "error", "detail"} {
		if value, ok := rawjson.Member(body, member); ok && rawjson.Kind(value) == '"' {
			text, _ := rawjson.String(value)
			return []byte(text)
		}
	}
	return bytes.TrimSpace(body)
}

var (
	ErrOtherOrigin = errors.New("the address has a different origin")
	errNoAddress   = errors.New("this is not an address")
)

// maxRedirects is the maximum number of redirects followed in a handshake.
const maxRedirects = 3

// A Moved error is a redirect to another path on the same origin. Only a handshake follows it.
type Moved struct {
	conn.StatusError
	to string
}

// Unwrap returns the error without the redirect's target.
func (e *Moved) Unwrap() error { return &e.StatusError }

// followRedirect reports whether err is a redirect that must be followed. If so, it makes the
// redirect's target the URL for later requests.
func (c *Conn) followRedirect(err error) bool {
	moved, ok := errors.AsType[*Moved](err)
	if ok {
		c.MoveTo(moved.to)
	}
	return ok
}

// redirectError returns an error if the response is a redirect, and nil otherwise. The error is a
// [Moved] if the status is 301, 302, 307 or 308 and the target is on the same origin.
func (c *Conn) redirectError(response *http.Response) error {
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

// host returns the scheme and host of a redirect's target, in parentheses, for an error message. It
// returns "" if the target is missing or invalid.
func (c *Conn) host(response *http.Response) string {
	to, err := response.Location()
	if err != nil {
		return ""
	}
	return " (" + c.redact(to.Scheme+"://"+to.Host) + ")"
}

// SameOrigin resolves reference relative to base. The result has the scheme, host, port and user of
// base. If reference has a different origin or user, SameOrigin returns [ErrOtherOrigin], because
// the server could otherwise choose where the proxy's credentials are sent.
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

// redact removes the values of the proxy's headers from text, because a response may repeat the
// headers of its request.
func (c *Conn) redact(text string) string {
	if value := c.authorized.Load(); value != nil { // Authorization header of the last request
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
