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

// listenAt returns a listener that enforces limits; see [limitListener]. All network listeners of a
// daemon must be created by listenAt and served by [limitListener.serve].
func listenAt(addr string, l config.Listen, log *slog.Logger) (*limitListener, error) {
	inner, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	return newLimitListener(inner, l, log), nil
}

// smallLimits returns limits for a listener with few clients, so that most of the process's file
// descriptors remain available for the MCP endpoint.
func smallLimits(most int) config.Listen {
	return config.Listen{MaxConnections: max(4, min(most, maxFiles()/16))}
}

// A limitListener limits the number of connections and how long a client may take to read. A single
// address may hold at most half of the connections; this machine is exempt, because a reverse proxy
// may run on it. The listener does not rely on [http.Server.WriteTimeout], which would also limit
// streams.
//
// When the limit is reached, the listener closes the connection that has been idle longest, so a
// client that opens many connections and sends little cannot keep others out.
type limitListener struct {
	net.Listener
	timeout time.Duration  // how long a client may take to read the next writeBytes bytes
	limit   int            // maximum number of connections
	refuse  func(net.Conn) // tells the client why its connection is refused
	log     *slog.Logger

	mu      sync.Mutex
	open    int
	perAddr map[netip.Addr]int // number of open connections, keyed by address; addresses without connections are removed
	conns   map[*limitedConn]struct{}
	full    bool // whether the warning about too many connections has been logged
}

func newLimitListener(inner net.Listener, l config.Listen, log *slog.Logger) *limitListener {
	s := &limitListener{
		Listener: inner, log: log, refuse: refuseConnection, perAddr: map[netip.Addr]int{}, conns: map[*limitedConn]struct{}{},
		timeout: cmp.Or(l.Timeouts.Write, writeTimeout),
		limit:   cmp.Or(l.MaxConnections, min(maxConnections, maxFiles()/2)),
	}
	if l.TLS != nil {
		s.refuse = func(net.Conn) {} // nothing can be sent before the TLS handshake
	}
	return s
}

// Accept waits for the next connection. If a limit has been reached, Accept closes the connection
// that has been idle longest. If no connection is idle, it refuses the new one immediately. Leaving
// it in the backlog would keep all later clients out.
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

// makeRoom closes the connection that has been idle longest, and reports whether it has closed a
// connection. If the given address already has its maximum number of connections, makeRoom
// considers only connections from that address.
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

// connKey is the context key for a request's connection.
type connKey struct{}

// serve serves connections until the server is closed. The parameter bounded reports whether the
// server's handler limits how long a request body may take to arrive. If it does not, serve limits
// this time.
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
			panic("a request over a connection unknown to the listener")
		}
		if !bounded && r.ContentLength != 0 {
			control := http.NewResponseController(w)
			_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // cannot fail: all connections support deadlines
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

// busy is the value of [limitedConn].idleSince for a connection that must not be closed to make
// room for others, because a request is in flight. Connections of MCP clients remain busy after
// their first request, because the client may send more requests in its session.
const busy = math.MaxInt64

// A pendingBody is a request body whose connection counts as idle until the whole body has arrived.
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

// reserve counts a new connection from the given address. If a limit has been reached, it logs a
// warning and returns false. It does not repeat the warning until most connections have been
// closed.
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
		s.log.Warn("too many connections are open; refusing new ones", "most", s.limit, "open", s.open, "address", from.String())
	}
	return false
}

func (s *limitListener) remove(c *limitedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.release(c.from)
}

// release undoes reserve for a connection from the given address. The caller must hold s.mu.
func (s *limitListener) release(from netip.Addr) {
	s.open--
	s.full = s.full && s.open > s.limit/4
	if s.perAddr[from]--; s.perAddr[from] == 0 {
		delete(s.perAddr, from)
	}
}

// limitKey returns the key for counting connections from the given address. The key is the address
// itself or, for IPv6, its /64 network, which usually belongs to one customer. For this machine,
// which is exempt from the limit per address, the key is the zero Addr.
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
		network, _ := ip.Prefix(64) // cannot fail: 64 is valid for IPv6
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
	timeout   time.Duration
	listener  *limitListener
	from      netip.Addr
	idleSince atomic.Int64 // when the connection became idle, in Unix nanoseconds; see [busy]
	closed    atomic.Bool

	mu     sync.Mutex
	sent   int           // number of bytes already sent in the current block, which is writeBytes long
	waited time.Duration // time spent so far on sending the current block
}

// Close closes the connection. The first call also removes it from the listener.
func (c *limitedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.listener.remove(c)
	}
	return c.Conn.Close()
}

// CloseWrite tells the client that no more data will follow. Package net/http calls it before Close
// if the client may still be sending.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Write fails if the client takes too long to read a block of writeBytes bytes. The limit applies
// to a block, not to a call. TLS writes in small pieces, so a limit per call would give a slow
// client the full time for each piece.
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
