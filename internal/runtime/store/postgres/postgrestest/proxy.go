package postgrestest

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A Proxy sits between a client and a server. It can break connections, and counts round trips.
type Proxy struct {
	listener net.Listener
	config   *pgx.ConnConfig

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	mode  Mode
	once  bool // whether the mode applies only to the next message
	trips int
	wg    sync.WaitGroup
}

// Mode determines a proxy's behavior.
type Mode int

// Modes of a proxy.
const (
	Pass       Mode = iota
	Refuse          // closes new connections immediately
	CutRequest      // closes a connection when the client sends data, so the request does not arrive
	CutAnswer       // closes a connection when the server answers, so the request has been executed
	Hold            // drops all data without closing connections
)

// NewProxy starts a proxy for the server with the given DSN. The proxy stops when the test ends.
func NewProxy(t testing.TB, dsn string) *Proxy {
	t.Helper()
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal("the tests' DSN is invalid")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, config: c, conns: map[net.Conn]struct{}{}}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.Set(Refuse)
		p.Cut()
		p.wg.Wait()
	})
	return p
}

// DSN returns a DSN that connects through the proxy.
func (p *Proxy) DSN() string {
	at := p.listener.Addr().(*net.TCPAddr)
	return format(p.config, "127.0.0.1", uint16(at.Port), "")
}

// Set sets the mode.
func (p *Proxy) Set(m Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = m
}

// Once sets the mode for the next message only.
func (p *Proxy) Once(m Mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode, p.once = m, true
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// Trips returns the number of round trips so far on all connections.
func (p *Proxy) Trips() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		network, at := "tcp", fmt.Sprintf("%s:%d", p.config.Host, p.config.Port)
		if strings.HasPrefix(p.config.Host, "/") {
			network, at = "unix", fmt.Sprintf("%s/.s.PGSQL.%d", p.config.Host, p.config.Port)
		}
		if p.applies(Refuse) {
			client.Close()
			continue
		}
		server, err := net.Dial(network, at)
		if err != nil {
			client.Close()
			continue
		}
		p.add(client, server)
		p.wg.Go(func() { p.forwardRequests(client, server) })
		p.wg.Go(func() { p.forwardAnswers(server, client) })
	}
}

// applies reports whether the proxy's mode is one of the given modes. If it is, and the mode is for
// a single use, applies sets the mode to Pass.
func (p *Proxy) applies(modes ...Mode) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(modes, p.mode) {
		return false
	}
	if p.once {
		p.mode, p.once = Pass, false
	}
	return true
}

func (p *Proxy) add(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
}

func (p *Proxy) end(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(p.conns, c)
	}
}

// forwardRequests forwards a client's messages and counts those that require an answer.
func (p *Proxy) forwardRequests(client, server net.Conn) {
	defer p.end(client, server)
	for first := true; ; first = false {
		kind, message, err := read(client, first)
		if err != nil {
			return
		}
		if kind == 'S' || kind == 'Q' {
			p.mu.Lock()
			p.trips++
			p.mu.Unlock()
		}
		if !p.pass(server, message, CutRequest) {
			return
		}
	}
}

// pass forwards data to one end of a connection. It returns false if the caller must close the
// connection. This is the case if the write fails, or if the proxy's mode is Refuse or cut. In mode
// Hold, pass discards the data and returns true.
func (p *Proxy) pass(to net.Conn, data []byte, cut Mode) bool {
	switch {
	case p.applies(cut, Refuse):
		return false
	case p.applies(Hold):
		return true
	}
	_, err := to.Write(data)
	return err == nil
}

// read reads one message of the PostgreSQL protocol. The first message on a connection has no type
// byte, so its kind is 0.
func read(r io.Reader, first bool) (kind byte, message []byte, err error) {
	head := make([]byte, 5)
	if first {
		head = head[:4]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return 0, nil, err
	}
	n := int(binary.BigEndian.Uint32(head[len(head)-4:])) - 4
	message = append(head, make([]byte, n)...)
	if !first {
		kind = head[0]
	}
	_, err = io.ReadFull(r, message[len(head):])
	return kind, message, err
}

func (p *Proxy) forwardAnswers(server, client net.Conn) {
	defer p.end(client, server)
	b := make([]byte, 64<<10)
	for {
		n, err := server.Read(b)
		if err != nil || !p.pass(client, b[:n], CutAnswer) {
			return
		}
	}
}
