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

// listenAt listens at an address with limits, see [limitListener]. All listeners for requests from
// others must be opened here and served by [limitListener.serve].
func listenAt(addr string, l config.Listen, log *slog.Logger) (*limitListener, error) {
	inner, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	return newLimitListener(inner, l, log), nil
}

// smallLimits returns the limits of a listener for few people and programs, so that most files of
// the process remain for calls.
func smallLimits(most int) config.Listen {
	return config.Listen{MaxConnections: max(4, min(most, maxFiles()/16))}
}

// A limitListener limits the number of connections, and the time for a client to read. One address
// can have at most half of the connections, unless it is this machine, where a reverse proxy may
// run. The WriteTimeout of net/http would limit a whole response, including streams.
//
// If there is no room, the connection that has been idle longest is closed: a client that opens
// many connections and sends little or nothing does not keep others out.
type limitListener struct {
	net.Listener
	timeout time.Duration  // for a client to read the next bytes
	limit   int            // maximum number of connections
	refuse  func(net.Conn) // tells an excess connection the reason
	log     *slog.Logger

	mu      sync.Mutex
	open    int
	perAddr map[netip.Addr]int // number of connections by address; no zero entries
	conns   map[*limitedConn]struct{}
	full    bool // the excess was logged
}

func newLimitListener(inner net.Listener, l config.Listen, log *slog.Logger) *limitListener {
	s := &limitListener{
		Listener: inner, log: log, refuse: refuseConnection, perAddr: map[netip.Addr]int{}, conns: map[*limitedConn]struct{}{},
		timeout: cmp.Or(l.Timeouts.Write, writeTimeout),
		limit:   cmp.Or(l.MaxConnections, min(maxConnections, maxFiles()/2)),
	}
	if l.TLS != nil {
		s.refuse = func(net.Conn) {} // nothing can be sent before the handshake
	}
	return s
}

// Accept waits for the next connection. It refuses excess connections at once: if they waited for
// room, they would keep out everybody else.
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

// makeRoom closes the connection that has been idle longest, if there is one. If the address has
// reached its share, it closes one of that address.
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

// connKey is the context key for the connection of a request.
type connKey struct{}

// serve serves the connections until the server is closed. It also limits the time for a body to
// arrive, unless bounded is set because the handler does so.
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
			_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // all connections support it
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

// busy is the value of [limitedConn].idleSince while a request is in flight. For MCP clients it is
// so from the first request on, because they may return to a session.
const busy = math.MaxInt64

// A pendingBody is a request body. Its connection counts as idle until the body has arrived.
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

// reserve counts a new connection, or returns false and logs once that there are too many.
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

// limitKey returns the address that connections are counted for: for IPv6 the /64 network of one
// customer. It is invalid for this machine, which has no limit of its own.
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
		network, _ := ip.Prefix(64) // 64 bits are always valid
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
	idleSince atomic.Int64 // start of the idle time in Unix nanoseconds; see busy
	closed    atomic.Bool

	mu     sync.Mutex
	sent   int           // bytes sent of the current writeBytes
	waited time.Duration // time that the client has taken to read them
}

// Close closes the connection. Only the first call removes it from the listener.
func (c *limitedConn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.listener.remove(c)
	}
	return c.Conn.Close()
}

// CloseWrite tells the client that no more data follows, before the connection is closed while the
// client may still be sending.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Write fails if the client does not read the next bytes in time. TLS writes small pieces; the time
// limit must not start again for each of them.
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
