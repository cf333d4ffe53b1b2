package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/config"
)

// listenAt listens at an address, with bounds; see [limitListener]. All that listens for
// requests of others does so here, and is served by [limitListener.serve].
func listenAt(addr string, l config.Listen, log *slog.Logger) (*limitListener, error) {
	inner, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	return newLimitListener(inner, l, log), nil
}

// smallLimits are the bounds of a listener beside that of clients: few people and programs come
// there. The files of the process are for calls.
func smallLimits(most int) config.Listen {
	return config.Listen{MaxConnections: max(4, min(most, maxFiles()/16))}
}

// A limitListener bounds the number of connections, and the time that a client takes to
// read. One address has half of the connections at most, unless it is this machine, where a
// server that stands in front may be. The WriteTimeout of net/http would bound a whole
// response, streams too.
//
// Where there is no room the connection gives way that has waited longest without a
// request: a client that opens many, and sends nothing or little, keeps no other out.
type limitListener struct {
	net.Listener
	timeout time.Duration  // for a client to take the next bytes
	limit    int            // connections
	refuse  func(net.Conn) // says why to one too many
	log     *slog.Logger

	mu   sync.Mutex
	open int
	perAddr map[netip.Addr]int // by address; none with 0
	conns  map[*limitedConn]struct{}
	full bool // it is in the log that there are too many
}

func newLimitListener(inner net.Listener, l config.Listen, log *slog.Logger) *limitListener {
	s := &limitListener{
		Listener: inner, log: log, refuse: refuseConnection, perAddr: map[netip.Addr]int{}, conns: map[*limitedConn]struct{}{},
		timeout: cmp.Or(l.Timeouts.Write, writeTimeout),
		limit:    cmp.Or(l.MaxConnections, min(maxConnections, maxFiles()/2)),
	}
	if l.TLS != nil {
		s.refuse = func(net.Conn) {} // nothing can be said before the handshake
	}
	return s
}

// Accept waits for the next connection. One too many is told so and closed at
// once: waiting for room would keep out everybody, as long as somebody wants.
func (s *limitListener) Accept() (net.Conn, error) {
	for {
		c, err := s.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := limitKey(c.RemoteAddr())
		if s.reserve(from) || s.makeRoom(from) && s.reserve(from) {
			return s.admit(c, from), nil
		}
		s.refuse(c)
		_ = c.Close()
	}
}

func (s *limitListener) admit(c net.Conn, from netip.Addr) *limitedConn {
	l := &limitedConn{Conn: c, timeout: s.timeout, listener: s, from: from}
	l.idleSince.Store(time.Now().UnixNano())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[l] = struct{}{}
	return l
}

// makeRoom closes the connection that has waited longest without a request, if there is
// one: of the same address, where that has its share.
func (s *limitListener) makeRoom(from netip.Addr) bool {
	oldest := s.longestIdle(from)
	return oldest != nil && oldest.Close() == nil
}

func (s *limitListener) longestIdle(from netip.Addr) (oldest *limitedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := from.IsValid() && s.perAddr[from] >= (s.limit+1)/2
	since := int64(busy)
	for c := range s.conns {
		if at := c.idleSince.Load(); at < since && (!own || c.from == from) {
			oldest, since = c, at
		}
	}
	return oldest
}

// A connKey is the key of the connection in the context of a request.
type connKey struct{}

// serve serves the connections until the server is closed. How long a body takes to arrive
// is bounded too, unless the handler does that itself.
func (s *limitListener) serve(server *http.Server, bounded bool) error {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if secure, ok := c.(*tls.Conn); ok {
			c = secure.NetConn()
		}
		return context.WithValue(ctx, connKey{}, c)
	}
	inner := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connKey{}).(*limitedConn)
		if !ok {
			panic("a request over a connection that the listener does not know")
		}
		if !bounded && r.ContentLength != 0 {
			control := http.NewResponseController(w)
			_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // it is there
			r.Body = &pendingBody{ReadCloser: r.Body, whole: func() {
				c.idleSince.Store(busy)
				_ = control.SetReadDeadline(time.Time{})
			}}
		} else {
			c.idleSince.Store(busy)
		}
		inner.ServeHTTP(w, r)
		if !bounded {
			c.idleSince.Store(time.Now().UnixNano())
		}
	})
	return listenAndServe(server, s)
}

// busy is the value of [limitedConn].waits while a request is under way, and, of a client,
// from its first request on: it may come back.
const busy = math.MaxInt64

// pendingBody is a body whose connection is not worth more than others until it is there.
type pendingBody struct {
	io.ReadCloser
	whole func()
}

func (a *pendingBody) Read(b []byte) (int, error) {
	n, err := a.ReadCloser.Read(b)
	if err != nil {
		a.whole()
	}
	return n, err
}

// reserve counts a connection, or says once for a time that there are too many.
func (s *limitListener) reserve(from netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open < s.limit && (!from.IsValid() || s.perAddr[from] < (s.limit+1)/2) {
		s.open++
		s.perAddr[from]++
		return true
	}
	if !s.full {
		s.full = true
		s.log.Warn("too many connections are open: new ones are refused", "most", s.limit, "open", s.open, "address", from.String())
	}
	return false
}

func (s *limitListener) remove(c *limitedConn) {
	s.release(c.from)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *limitListener) release(from netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.full = s.full && s.open > s.limit/4
	if s.perAddr[from]--; s.perAddr[from] == 0 {
		delete(s.perAddr, from)
	}
}

// limitKey is the address that connections are counted for: of IPv6 the network
// that one customer has. That of this machine is none.
func limitKey(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	switch {
	case ip.IsLoopback():
		return netip.Addr{}
	case ip.Is6():
		network, _ := ip.Prefix(64) // there is always one
		return network.Addr()
	}
	return ip
}

func refuseConnection(c net.Conn) {
	_ = c.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = io.WriteString(c, "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n"+
		"this proxy has too many open connections (listen.maxConnections)\n")
}

type limitedConn struct {
	net.Conn
	timeout  time.Duration
	listener *limitListener
	from     netip.Addr
	idleSince    atomic.Int64 // since when no request is under way, in nanoseconds; see busy
	closed   atomic.Bool

	mu     sync.Mutex
	sent   int           // of the writeBytes that the client is taking
	waited time.Duration // for it to take them
}

// Close counts once.
func (c *limitedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.listener.remove(c)
	}
	return c.Conn.Close()
}

// CloseWrite tells the client that nothing more comes, before the connection is
// closed over what it may still be sending.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Write fails when the client does not take the next bytes in time. TLS writes
// little at a time: a client must not have the whole time for each of its pieces.
func (c *limitedConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	written := 0
	for {
		start := time.Now()
		if err := c.SetWriteDeadline(start.Add(c.timeout - c.waited)); err != nil {
			return written, err
		}
		part := b[written:min(len(b), written+writeBytes-c.sent)]
		n, err := c.Conn.Write(part)
		written += n
		c.sent += n
		c.waited += time.Since(start)
		if c.sent >= writeBytes {
			c.sent, c.waited = 0, 0
		}
		if err != nil || written == len(b) {
			return written, err
		}
	}
}
