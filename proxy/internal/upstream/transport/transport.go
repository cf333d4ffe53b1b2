// Package transport makes plain HTTP/1.1 requests for MCP clients at a lower cost per request than
// net/http. It leaves other requests to net/http.
package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/internal/inet"
)

const (
	MaxIdle        = 256              // maximum number of idle connections
	KeepAlive      = 90 * time.Second // how long a connection may stay idle before it is closed
	MaxHeaderBytes = 1 << 20          // maximum size of a response header in bytes
)

var errHeaderTooLong = errors.New("the response header is too long")

// A DirectTransport makes HTTP/1.1 requests without TLS on the caller's goroutine. The net/http
// transport passes each request through two other goroutines, which can take longer than the
// exchange with a local server. With TLS or through a proxy, requests take longer anyway, so they
// are left to net/http. A DirectTransport is safe for concurrent use.
type DirectTransport struct {
	Other  *http.Transport
	Dialer net.Dialer

	mu   sync.Mutex
	idle []*directConn // idle connections, most recently used last
}

// RoundTrip sends the request, or passes it to Other, a net/http transport. It never retries a
// request that it sends itself. Before it writes such a request to an idle connection, it checks
// whether the server has closed the connection.
func (t *DirectTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if !t.canServe(request) {
		return t.Other.RoundTrip(request)
	}
	c, err := t.conn(request)
	if err != nil {
		return nil, err
	}
	if trace := httptrace.ContextClientTrace(request.Context()); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: c.net})
	}
	return c.roundTrip(request)
}

func (t *DirectTransport) canServe(request *http.Request) bool {
	if request.URL.Scheme != "http" || !canPeek {
		return false
	}
	proxy, err := http.ProxyFromEnvironment(request)
	return proxy == nil && err == nil
}

// CloseIdleConnections closes all connections that are not in use.
func (t *DirectTransport) CloseIdleConnections() {
	t.mu.Lock()
	idle := t.idle
	t.idle = nil
	t.mu.Unlock()
	for _, c := range idle {
		_ = c.net.Close()
	}
	t.Other.CloseIdleConnections()
}

// conn returns an idle connection or, if none is idle, opens a new one.
func (t *DirectTransport) conn(request *http.Request) (*directConn, error) {
	addr := request.URL.Host
	if request.URL.Port() == "" {
		addr = net.JoinHostPort(request.URL.Hostname(), "80")
	}
	for {
		c := t.pop()
		if c == nil {
			break
		}
		if c.addr == addr && time.Since(c.since) < KeepAlive && isIdleOpen(c.net) {
			return c, nil
		}
		_ = c.net.Close()
	}
	conn, err := t.Dialer.DialContext(request.Context(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &directConn{transport: t, addr: addr, net: conn}
	c.in = bufio.NewReader(c)
	c.out = bufio.NewWriter(conn)
	return c, nil
}

func (t *DirectTransport) pop() *directConn {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.idle)
	if n == 0 {
		return nil
	}
	c := t.idle[n-1]
	t.idle = t.idle[:n-1]
	return c
}

// put makes the idle connection c available for later requests.
func (t *DirectTransport) put(c *directConn) {
	c.since = time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.idle) >= MaxIdle {
		_ = c.net.Close()
		return
	}
	t.idle = append(t.idle, c)
}

// A directConn is a connection used by at most one request at a time.
type directConn struct {
	transport *DirectTransport
	addr      string
	net       net.Conn
	in        *bufio.Reader
	out       *bufio.Writer
	left      int64 // number of bytes that may still be read as part of the header
	since     time.Time
}

// Read reads from the connection. It returns an error if the header is too long.
func (c *directConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errHeaderTooLong
	}
	n, err := c.net.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

func (c *directConn) roundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	stop := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Unix(1, 0)) })
	response, err := c.exchange(request)
	if err != nil {
		stop()
		_ = c.net.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	body := &directBody{conn: c, stop: stop, ctx: ctx, body: response.Body, keep: !response.Close}
	if response.Body == http.NoBody || response.ContentLength == 0 {
		body.finish(true)
	}
	response.Body = body
	return response, nil
}

// exchange writes the request and reads the response header.
func (c *directConn) exchange(request *http.Request) (*http.Response, error) {
	if err := request.Write(c.out); err != nil {
		return nil, err
	}
	if err := c.out.Flush(); err != nil {
		return nil, err
	}
	c.left = MaxHeaderBytes
	for {
		response, err := http.ReadResponse(c.in, request)
		if err != nil {
			return nil, err
		}
		if response.StatusCode/100 != 1 || response.StatusCode == http.StatusSwitchingProtocols {
			c.left = math.MaxInt64
			return response, nil
		}
	}
}

// A directBody is a response body. If the caller reads it to its end, the connection can be reused
// for another request. If the caller closes it earlier, the connection is closed.
type directBody struct {
	conn *directConn
	stop func() bool
	ctx  context.Context
	body io.ReadCloser
	keep bool

	done atomic.Bool
}

// Read reads from the body. At the end of the body, it makes the connection available for the next
// request.
func (b *directBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	switch {
	case err == io.EOF:
		b.finish(true)
	case err != nil && b.ctx.Err() != nil:
		err = b.ctx.Err()
	}
	return n, err
}

// Close releases the connection.
func (b *directBody) Close() error {
	b.finish(false)
	return nil
}

// finish releases the connection, which can be reused only if the body was read to its end.
func (b *directBody) finish(read bool) {
	if b.done.Swap(true) {
		return
	}
	if b.stop() && read && b.keep && b.conn.in.Buffered() == 0 {
		b.conn.transport.put(b.conn)
		return
	}
	_ = b.conn.net.Close()
}

// NewDialer returns a dialer that refuses to connect to link-local addresses and to cloud metadata
// services. These services, most of them at link-local addresses, reveal the credentials of the
// machine.
func NewDialer() net.Dialer {
	return net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second, Control: checkAddress}
}

// checkAddress returns an error if a new connection would reach a forbidden address. It is called
// after name resolution, because the address of a name may have changed since the configuration was
// checked.
func checkAddress(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address", address)
	}
	// Other local and private addresses must be allowed, because most servers have such an address.
	if inet.IsMetadata(a.Addr()) {
		return fmt.Errorf("petrigate does not connect to %s, a link-local or cloud metadata address", a.Addr())
	}
	return nil
}
