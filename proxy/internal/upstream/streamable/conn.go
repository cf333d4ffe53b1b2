// Package streamable speaks MCP over streamable HTTP.
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

	NotifyTimeout  = 5 * time.Second // of a message that wants no answer
	cancelledGrace = 5 * time.Minute // for the answer to a request that was cancelled
	drainTime      = time.Second     // for the end of a stream whose answer has come

	ExcerptLimit = 64 << 10 // of the body of an error that is read
	maxAnswers   = 16       // to requests of the server, at once
)

// Conn speaks to one streamable HTTP endpoint.
type Conn struct {
	conn.Dispatcher
	ctx context.Context //nolint:containedctx // ends with the upstream, not with the connection

	address    atomic.Pointer[string]       // where requests go; a handshake may follow a redirect
	Current    atomic.Pointer[conn.Session] // nil before the handshake
	authorized atomic.Pointer[string]       // what the last request had from the credentials

	otherSessions atomic.Bool // an error of the server about a session is not about ours

	renewing sync.Mutex
	renewed  chan struct{} // gets a value when current was replaced
	streamed chan struct{} // gets a value when the stream of a session was asked for, and answered
	answers  chan struct{} // has room for each answer to the server under way
}

func (c *Conn) Lifetime() context.Context { return c.ctx }

// Dial checks the address; the first request opens a connection.
func Dial(ctx context.Context, u *conn.Host) (*Conn, error) {
	parsed, err := url.Parse(u.Config.URL)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, conn.Permanently(errors.New("the url is not an http or https address")) // and may contain a secret
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

// Address returns the address that requests go to.
func (c *Conn) Address() string { return *c.address.Load() }

// MoveTo makes requests go to another address from now on.
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

// Retire ends the session where there is one. Requests under way go on unless
// the upstream itself ends.
func (c *Conn) Retire() {
	lost := c.Cause() != nil
	c.Fail(process.ErrClosed)
	c.Asked.Close()
	if s := c.Current.Load(); s != nil && s.ID != "" && !lost {
		c.endSession(s)
	}
}

// renew shakes hands anew after the server forgot session old. Of many that
// find out at once, one does it.
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
	c.Host.Renewed() // its tools may be others
	return nil
}

// Restart ends the connection for err: requests under way go on.
func (c *Conn) Restart(_ context.Context, err error) bool {
	c.Fail(err)
	return true
}

// endSession tells the server that its session is over. It may not care.
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

// perform makes the request of x and delivers its reply.
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

// Cancel tells the server. In 2026-07-28 the end of the stream does that.
func (c *Conn) Cancel(x *conn.Exchange, reason string) {
	if s := c.Current.Load(); s == nil || s.Rev() == rev.Rev2026 {
		x.Abort()
		return
	}
	if !c.Host.Work.Go(func() {
		// Not with the context of x: what x asked of its client is withdrawn
		// too, and an answer to that must not keep the server from knowing.
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

// push sends a message that wants no answer.
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

// NewRequest makes a request with the headers of the configuration, and over
// them those of the protocol.
func (c *Conn) NewRequest(ctx context.Context, method string, s *conn.Session, data []byte) (*http.Request, error) {
	// Of this type of reader the transport knows that it can write it together
	// with the headers, and again if a connection proves closed before that.
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

// MediaType is the content type without its parameters.
func MediaType(h http.Header) string {
	t := h.Get("Content-Type")
	if t == "application/json" || t == "text/event-stream" {
		return t
	}
	t, _, _ = mime.ParseMediaType(t)
	return t
}
