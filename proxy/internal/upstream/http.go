package upstream

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

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

const (
	sessionHeader  = "Mcp-Session-Id"
	versionHeader  = "Mcp-Protocol-Version"
	notifyTimeout  = 5 * time.Second  // of a message that wants no answer
	cancelledGrace = 5 * time.Minute  // for the answer to a request that was cancelled
	drainTime      = time.Second      // for the end of a stream whose answer has come
	excerptLimit   = 64 << 10         // of the body of an error that is read
	maxAnswers     = 16               // to requests of the server, at once
	keepAlive      = 90 * time.Second // of an idle connection
)

var errRedirect = errors.New("the server redirects, which is not followed")

// session is what requests over HTTP carry: what a handshake agreed on.
type session struct {
	id      string // of the legacy era; may be empty
	version string
}

func (s *session) modern() bool { return mcp.IsModernProtocol(s.version) }

// httpConn speaks to one streamable HTTP endpoint.
type httpConn struct {
	host    *host
	url     string
	pending *pending
	ctx     context.Context // ends with the upstream, not with the connection

	current    atomic.Pointer[session] // nil before the handshake
	authorized atomic.Pointer[string]  // what the last request had from the credentials

	renewing sync.Mutex
	renewed  chan struct{} // gets a value when current was replaced
	streamed chan struct{} // gets a value when the stream of a session was asked for, and answered
	answers  chan struct{} // has room for each answer to the server under way
	asked    inquiries

	ending
}

func (c *httpConn) lifetime() context.Context { return c.ctx }

// dial checks the address; the first request opens a connection.
func (u *host) dial(ctx context.Context) (*httpConn, error) {
	parsed, err := url.Parse(u.config.URL)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, permanent{errors.New("the url is not an http or https address")} // and may contain a secret
	}
	for name := range u.config.Headers {
		if strings.HasSuffix(http.CanonicalHeaderKey(name), "Idempotency-Key") {
			return nil, permanent{fmt.Errorf("header %s cannot be set: it would let requests be sent twice", name)}
		}
	}
	return &httpConn{
		host: u, url: u.config.URL, pending: newPending(),
		ctx: ctx, ending: newEnding(), renewed: make(chan struct{}, 1), streamed: make(chan struct{}, 1), answers: make(chan struct{}, maxAnswers),
	}, nil
}

func newHTTPClient(secure *tls.Config) *http.Client {
	if secure == nil {
		secure = new(tls.Config)
	}
	secure = secure.Clone()
	secure.MinVersion = max(secure.MinVersion, tls.VersionTLS12)
	dialer := newDialer()
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &directTransport{dialer: dialer, other: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           dialer.DialContext,
			TLSClientConfig:       secure,
			TLSHandshakeTimeout:   10 * time.Second,
			ForceAttemptHTTP2:     true,
			MaxIdleConnsPerHost:   maxIdle,
			IdleConnTimeout:       keepAlive,
			ExpectContinueTimeout: time.Second,
			DisableCompression:    true,

			MaxResponseHeaderBytes: maxHeaderBytes,
		}},
	}
}

func (c *httpConn) agree(s *session) { c.current.Store(s) }

// retire ends the session where there is one. Requests under way go on unless
// the upstream itself ends.
func (c *httpConn) retire() {
	lost := c.cause() != nil
	c.fail(errClosed)
	c.asked.close()
	if s := c.current.Load(); s != nil && s.id != "" && !lost {
		c.endSession(s)
	}
}

// endSession tells the server that its session is over. It may not care.
func (c *httpConn) endSession(s *session) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), time.Second)
	defer cancel()
	if request, err := c.newRequest(ctx, http.MethodDelete, s, nil); err == nil {
		if response, err := c.do(request); err == nil {
			response.Body.Close()
		}
	}
}

func (c *httpConn) send(x *Exchange) {
	if !c.pending.add(x) || !c.host.work.begin() {
		c.pending.take(x.id)
		x.abort()
		x.deliver(Reply{Err: notSent(errClosed)})
		return
	}
	x.body.fill(wire.AppendRequestInt(make([]byte, 0, len(x.req.Params)+len(x.req.Method)+64), x.id, x.req.Method, x.req.Params))
	x.req.marked = c.host.headers.of(&x.req)
	x.req.Params = nil
	if x.req.Here {
		c.perform(x)
	} else {
		go c.perform(x)
	}
}

// perform makes the request of x and delivers its reply.
func (c *httpConn) perform(x *Exchange) {
	reply := c.roundTrip(x)
	if reply.rest != nil {
		go func() { c.conclude(x, reply.rest()) }()
		return
	}
	c.conclude(x, reply)
}

func (c *httpConn) conclude(x *Exchange, reply Reply) {
	defer c.host.work.done()
	defer x.abort()
	c.pending.take(x.id)
	x.deliver(reply)
}

// cancel tells the server. In the modern era the end of the stream does that.
func (c *httpConn) cancel(x *Exchange, reason string) {
	if s := c.current.Load(); s == nil || s.modern() {
		x.abort()
		return
	}
	if !c.host.work.begin() {
		return
	}
	go func() {
		defer c.host.work.done()
		// Not with the context of x: what x asked of its client is withdrawn
		// too, and an answer to that must not keep the server from knowing.
		ctx, cancel := context.WithTimeout(c.ctx, notifyTimeout)
		defer cancel()
		_ = c.notify(ctx, c.current.Load(), "notifications/cancelled", appendCancelled(nil, x.id, reason))
	}()
	x.body.forget()
	stop := time.AfterFunc(cancelledGrace, x.abort)
	context.AfterFunc(x.ctx, func() { stop.Stop() })
}

func (c *httpConn) notify(ctx context.Context, s *session, method string, params []byte) error {
	return c.push(ctx, s, method, wire.AppendNotification(nil, method, params))
}

// push sends a message that wants no answer.
func (c *httpConn) push(ctx context.Context, s *session, method string, data []byte) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, notifyTimeout)
		defer cancel()
	}
	response, err := c.post(ctx, s, &Request{Method: method}, &body{data: data})
	if err != nil {
		return c.transportError(err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return c.statusError(response)
	}
	_, _ = io.CopyN(io.Discard, response.Body, excerptLimit)
	return nil
}

// newRequest makes a request with the headers of the configuration, and over
// them those of the protocol.
func (c *httpConn) newRequest(ctx context.Context, method string, s *session, data []byte) (*http.Request, error) {
	// Of this type of reader the transport knows that it can write it together
	// with the headers, and again if a connection proves closed before that.
	request, err := http.NewRequestWithContext(ctx, method, c.url, bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("making a request to the url")
	}
	for name, value := range c.host.config.Headers {
		request.Header.Set(name, value)
		if http.CanonicalHeaderKey(name) == "Host" {
			request.Host = value
		}
	}
	if data != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if s.version != "" {
		request.Header.Set(versionHeader, s.version)
	}
	request.Header.Del(sessionHeader)
	if s.id != "" && !s.modern() {
		request.Header.Set(sessionHeader, s.id)
	}
	return request, nil
}

func (c *httpConn) post(ctx context.Context, s *session, r *Request, b *body) (*http.Response, error) {
	request, err := b.request(ctx, c, s)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json, text/event-stream")
	if s.modern() {
		request.Header.Set(mcp.HeaderMethod, r.Method)
		if name, ok := mcp.EncodeHeaderValue(r.Name); ok && r.Name != "" {
			request.Header.Set(mcp.HeaderName, name)
		}
		for name, value := range r.marked {
			request.Header.Set(name, value)
		}
	}
	return c.do(request)
}

// mediaType is the content type without its parameters.
func mediaType(h http.Header) string {
	t := h.Get("Content-Type")
	if t == "application/json" || t == "text/event-stream" {
		return t
	}
	t, _, _ = mime.ParseMediaType(t)
	return t
}
