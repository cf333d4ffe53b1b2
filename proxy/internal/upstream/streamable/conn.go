// Package streamable implements the streamable HTTP transport for connections to MCP servers.
//
// A [Conn] communicates with one endpoint. It sends each request as a POST on a new goroutine or,
// if Request.Here is set, on the caller's goroutine. The response is either JSON or an event
// stream. A server of revision 2025-11-25 may end such a stream early; the Conn then requests the
// rest with GET and Last-Event-ID. A separate, long-lived GET stream carries messages that do not
// belong to a request; see [Conn.Listen].
//
// A server that no longer knows the session does not execute the request. The Conn then performs a
// new handshake and sends the request again. Redirects are followed only during the handshake, and
// only within the same origin. Error messages do not contain the values of configured headers or
// credentials.
//
// The mutex Conn.renewing is held during each handshake that replaces a session, so that only one
// such handshake runs at a time. All other shared state is atomic or belongs to package conn.
package streamable

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/transport"
	"github.com/petrigate/petrigate/proxy/internal/wait"
)

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"

	NotifyTimeout  = 5 * time.Second // timeout for sending a message that has no response
	cancelledGrace = 5 * time.Minute // how long to wait for the response to a canceled request
	drainTime      = time.Second     // how long to wait, after the response, for the end of the stream

	ExcerptLimit = 64 << 10 // maximum number of bytes read from an error response
	maxAnswers   = 16       // maximum number of refusals of the server's requests that are sent at the same time
)

// A Conn is a connection to a streamable HTTP endpoint. It is safe for concurrent use.
type Conn struct {
	conn.Dispatcher
	ctx context.Context //nolint:containedctx // done when the upstream ends, not the connection

	address    atomic.Pointer[string]       // URL for requests; a redirect during the handshake may change it
	Current    atomic.Pointer[conn.Session] // nil before the handshake
	authorized atomic.Pointer[string]       // latest Authorization header that was sent

	otherSessions atomic.Bool // whether the server uses JSON-RPC errors about unknown sessions for sessions of its own, not for MCP sessions; if so, such errors do not cause a new handshake

	renewing sync.Mutex
	renewed  wait.Signal   // signals that a new handshake has replaced the session
	streamed wait.Signal   // signals that the server has responded to the request for a session's GET stream
	answers  chan struct{} // limits the number of refusals of the server's requests that are sent at the same time
}

func (c *Conn) Lifetime() context.Context { return c.ctx }

// Dial returns a connection to the configured URL, or an error if the configuration is invalid. No
// network connection is opened before the first request.
func Dial(ctx context.Context, u *conn.Host) (*Conn, error) {
	parsed, err := url.Parse(u.Config.URL)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, conn.Permanently(errors.New("the url is not an http or https address")) // the error must not contain the URL, which may hold a secret
	}
	for name := range u.Config.Headers {
		if strings.HasSuffix(http.CanonicalHeaderKey(name), "Idempotency-Key") {
			return nil, conn.Permanently(fmt.Errorf("cannot set the header %s: it could cause requests to be sent twice", name))
		}
	}
	c := &Conn{
		Dispatcher: conn.NewDispatcher(u), ctx: ctx,
		renewed: wait.NewSignal(), streamed: wait.NewSignal(), answers: make(chan struct{}, maxAnswers),
	}
	c.MoveTo(u.Config.URL)
	return c, nil
}

// Address returns the URL for requests.
func (c *Conn) Address() string { return *c.address.Load() }

// MoveTo sets the URL for later requests.
func (c *Conn) MoveTo(address string) { c.address.Store(&address) }

func NewHTTPClient(secure *tls.Config) *http.Client {
	if secure == nil {
		secure = new(tls.Config)
	}
	secure = secure.Clone()
	secure.MinVersion = max(secure.MinVersion, tls.VersionTLS12)
	dialer := transport.NewDialer()
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &transport.DirectTransport{Dialer: dialer, Other: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           dialer.DialContext,
			TLSClientConfig:       secure,
			TLSHandshakeTimeout:   10 * time.Second,
			ForceAttemptHTTP2:     true,
			MaxIdleConnsPerHost:   transport.MaxIdle,
			IdleConnTimeout:       transport.KeepAlive,
			ExpectContinueTimeout: time.Second,
			DisableCompression:    true,

			MaxResponseHeaderBytes: transport.MaxHeaderBytes,
		}},
	}
}

func (c *Conn) Agree(s *conn.Session) { c.Current.Store(s) }

// renew performs a handshake to replace the session. It is called when the server no longer knows
// the session, or when more client capabilities must be declared. If another caller has already
// replaced the session, renew does nothing. If the handshake takes too long or ctx is done, renew
// returns an error, and the connection and the old session remain in use. If the handshake fails
// for another reason, renew also ends the connection.
func (c *Conn) renew(ctx context.Context, old *conn.Session) error {
	c.renewing.Lock()
	defer c.renewing.Unlock()
	if c.Current.Load() != old {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.Host.Options.ConnectTimeout)
	defer cancel()
	s, err := c.Host.Renew(ctx, c, old.Version)
	if err != nil {
		if ctx.Err() == nil {
			c.Fail(fmt.Errorf("opening a new session: %w", err))
		}
		return err
	}
	c.Current.Store(s)
	c.renewed.Send()
	c.Host.Renewed() // the server's tools may differ in the new session
	return nil
}

// Restart ends the connection, with err as the reason. The upstream then opens a new connection.
// Restart always returns true, because it does not affect in-flight requests.
func (c *Conn) Restart(_ context.Context, err error) bool {
	c.Fail(err)
	return true
}

// NewRequest returns a request with the configured headers and the protocol's headers. If both
// define the same header, the protocol's value takes precedence.
func (c *Conn) NewRequest(ctx context.Context, method string, s *conn.Session, data []byte) (*http.Request, error) {
	// With a bytes.Reader, the HTTP transport can write the body together with the headers. It can
	// also write the body again if it turns out that the connection was closed.
	request, err := http.NewRequestWithContext(ctx, method, c.Address(), bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("building a request to the url")
	}
	for name, value := range c.Host.Config.Headers {
		request.Header.Set(name, value)
		if http.CanonicalHeaderKey(name) == "Host" {
			request.Host = value
		}
	}
	if data != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if s.Version != "" {
		request.Header.Set(versionHeader, s.Version)
	}
	request.Header.Del(sessionHeader)
	if s.ID != "" && s.Rev() == rev.Rev2025 {
		request.Header.Set(sessionHeader, s.ID)
	}
	return request, nil
}

// MediaType returns the content type without its parameters.
func MediaType(h http.Header) string {
	t := h.Get("Content-Type")
	if t == "application/json" || t == "text/event-stream" {
		return t
	}
	t, _, _ = mime.ParseMediaType(t)
	return t
}
