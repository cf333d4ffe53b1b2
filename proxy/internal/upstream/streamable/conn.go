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
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
	"github.com/petrigate/petrigate/proxy/internal/upstream/transport"
	"github.com/petrigate/petrigate/proxy/internal/wire"
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

// Retire ends the session, if there is one. Requests in flight continue unless the upstream itself
// ends.
func (c *Conn) Retire() {
	lost := c.Cause() != nil
	c.Fail(process.ErrClosed)
	c.Asked.Close()
	if s := c.Current.Load(); s != nil && s.ID != "" && !lost {
		c.endSession(s)
	}
}

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

// endSession tells the server that its session is over. The server can ignore that.
func (c *Conn) endSession(s *conn.Session) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), time.Second)
	defer cancel()
	if request, err := c.NewRequest(ctx, http.MethodDelete, s, nil); err == nil {
		if response, err := c.Do(request, nil); err == nil {
			response.Body.Close()
		}
	}
}

func (c *Conn) Send(x *conn.Exchange) {
	if !c.Pending.Add(x) || !c.Host.Work.Begin() {
		c.Pending.Take(x.ID)
		x.Abort()
		x.Deliver(conn.Reply{Err: conn.NotSent(process.ErrClosed)})
		return
	}
	x.Body.Fill(wire.AppendRequestInt(make([]byte, 0, len(x.Req.Params)+len(x.Req.Method)+64), x.ID, x.Req.Method, x.Req.Params))
	if x.Req.Mirrored != nil {
		x.Req.Headers = mcp.GenerateParamHeaders(x.Req.Mirrored, x.Req.Params)
	}
	x.Req.Params = nil
	if x.Req.Here {
		c.perform(x)
	} else {
		go c.perform(x)
	}
}

// perform makes the HTTP request of x and delivers its reply.
func (c *Conn) perform(x *conn.Exchange) {
	reply := c.roundTrip(x)
	if reply.Rest != nil {
		go func() { c.conclude(x, reply.Rest()) }()
		return
	}
	c.conclude(x, reply)
}

func (c *Conn) conclude(x *conn.Exchange, reply conn.Reply) {
	defer c.Host.Work.Done()
	defer x.Abort()
	c.Pending.Take(x.ID)
	x.Deliver(reply)
}

// Cancel cancels x at the server: by notifications/cancelled or, in 2026-07-28, by closing the
// stream.
func (c *Conn) Cancel(x *conn.Exchange, reason string) {
	if s := c.Current.Load(); s == nil || s.Rev() == rev.Rev2026 {
		x.Abort()
		return
	}
	if !c.Host.Work.Go(func() {
		// Not with the context of x: the server's requests during x are withdrawn too, and an
		// answer to one of them must not prevent the cancellation.
		_ = c.Notify(c.ctx, nil, conn.MethodCancelled, conn.AppendCancelled(nil, x.ID, reason))
	}) {
		return
	}
	x.Body.Forget()
	stop := time.AfterFunc(cancelledGrace, x.Abort)
	context.AfterFunc(x.Ctx, func() { stop.Stop() })
}

// Notify sends a notification in the session s; nil: in the current one.
func (c *Conn) Notify(ctx context.Context, s *conn.Session, method string, params []byte) error {
	if s == nil {
		s = c.Current.Load()
	}
	return c.push(ctx, s, method, wire.AppendNotification(nil, method, params))
}

// push sends a message that gets no answer.
func (c *Conn) push(ctx context.Context, s *conn.Session, method string, data []byte) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, NotifyTimeout)
		defer cancel()
	}
	body := new(conn.Body)
	body.Fill(data)
	response, err := c.post(ctx, s, &conn.Request{Method: method}, body)
	if err != nil {
		return c.TransportError(err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return c.StatusError(response)
	}
	_, _ = io.CopyN(io.Discard, response.Body, ExcerptLimit)
	return nil
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

func (c *Conn) post(ctx context.Context, s *conn.Session, r *conn.Request, b *conn.Body) (*http.Response, error) {
	request, err := c.request(ctx, b, s)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json, text/event-stream")
	if s.Rev() == rev.Rev2026 {
		request.Header.Set(mcp.HeaderMethod, r.Method)
		if name, ok := mcp.EncodeHeaderValue(r.Name); ok && r.Name != "" {
			request.Header.Set(mcp.HeaderName, name)
		}
		for name, value := range r.Headers {
			request.Header.Set(name, value)
		}
	}
	return c.Do(request, r.Again)
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
