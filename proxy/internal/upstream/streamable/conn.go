// Package streamable implements the streamable HTTP transport for connections to MCP servers.
//
// A [Conn] speaks to one endpoint. Each request is one POST, made on a goroutine of its own or,
// with Request.Here, on the caller's; its response is JSON or an event stream. A server of
// 2025-11-25 can end such a stream early, and the rest is requested with GET and Last-Event-ID. A
// second long-lived GET stream carries the messages outside of requests ([Conn.Listen]).
//
// If the server has forgotten the session, the request was not executed: the connection performs a
// new handshake and sends the request again. Redirects are followed only during the handshake,
// within the same origin. Values of configured headers and of credentials are redacted from error
// texts.
//
// Conn.renewing serializes handshakes; it is held while the handshake runs. All other shared state
// is atomic or in package conn.
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
)

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"

	NotifyTimeout  = 5 * time.Second // timeout of a message without an answer
	cancelledGrace = 5 * time.Minute // wait for the answer to a cancelled request
	drainTime      = time.Second     // wait for the end of a stream after its answer

	ExcerptLimit = 64 << 10 // bytes of an error body that are read
	maxAnswers   = 16       // concurrent refusals of the server's requests
)

// Conn is a connection to one streamable HTTP endpoint. It is safe for concurrent use.
type Conn struct {
	conn.Dispatcher
	ctx context.Context //nolint:containedctx // ends with the upstream, not with the connection

	address    atomic.Pointer[string]       // URL for requests; a handshake can change it by a redirect
	Current    atomic.Pointer[conn.Session] // nil before the handshake
	authorized atomic.Pointer[string]       // Authorization header of the last request with credentials

	otherSessions atomic.Bool // the server's errors about sessions do not concern MCP sessions

	renewing sync.Mutex
	renewed  chan struct{} // receives a value when Current was replaced
	streamed chan struct{} // receives a value when the request for a session's stream was answered
	answers  chan struct{} // semaphore for refusals of the server's requests
}

func (c *Conn) Lifetime() context.Context { return c.ctx }

// Dial checks the address. The first request opens a connection.
func Dial(ctx context.Context, u *conn.Host) (*Conn, error) {
	parsed, err := url.Parse(u.Config.URL)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, conn.Permanently(errors.New("the url is not an http or https address")) // the error must not quote the URL, which can contain a secret
	}
	for name := range u.Config.Headers {
		if strings.HasSuffix(http.CanonicalHeaderKey(name), "Idempotency-Key") {
			return nil, conn.Permanently(fmt.Errorf("header %s cannot be set: it would let requests be sent twice", name))
		}
	}
	c := &Conn{
		Dispatcher: conn.NewDispatcher(u), ctx: ctx,
		renewed: make(chan struct{}, 1), streamed: make(chan struct{}, 1), answers: make(chan struct{}, maxAnswers),
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

// renew performs a new handshake after the server forgot session old. If several requests find out
// at once, only one does it.
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
	conn.Poke(c.renewed)
	c.Host.Renewed() // its tools may have changed
	return nil
}

// Restart ends the connection with err. Requests in flight continue.
func (c *Conn) Restart(_ context.Context, err error) bool {
	c.Fail(err)
	return true
}

// NewRequest returns a request with the configured headers and those of the protocol, which take
// precedence.
func (c *Conn) NewRequest(ctx context.Context, method string, s *conn.Session, data []byte) (*http.Request, error) {
	// The transport knows that it can write this type of reader together with the headers, and
	// again if the connection proves to be closed before that.
	request, err := http.NewRequestWithContext(ctx, method, c.Address(), bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("making a request to the url")
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
