package main

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Bounds of a connection. None of them ends a stream that is silent: how long
// a request may take to arrive is bounded by the endpoint itself, which knows
// when it is there.
const (
	headerTimeout = 10 * time.Second // to send the headers of a request
	idleTimeout   = 5 * time.Minute  // between two requests
	writeTimeout  = 30 * time.Second // for a client to take the next bytes
	headerBytes   = 64 << 10
	writeBytes    = 256 << 10 // that a client has to take in writeTimeout
)

// How long calls may go on when the program is told to end.
const (
	drainTimeout    = 5 * time.Second // by themselves
	farewellTimeout = time.Second     // for the answers to those that were cut short
)

func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes}
}

// shutdown takes no new requests, lets calls end for a while, then has them
// cut short, and closes the connections of clients that do not take the answer.
func shutdown(server *http.Server, cut func() error) error {
	if withTimeout(drainTimeout, server.Shutdown) == nil {
		return nil
	}
	err := cut()
	if withTimeout(farewellTimeout, server.Shutdown) != nil {
		_ = server.Close() // they were told to be quick
	}
	return err
}

func withTimeout(d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return f(ctx)
}

// A steady listener hands out connections to clients that have to read. The
// WriteTimeout of net/http would bound a whole response, streams too.
type steady struct{ net.Listener }

// Accept waits for the next connection.
func (l steady) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &steadyConn{Conn: c, timeout: writeTimeout}, nil
}

type steadyConn struct {
	net.Conn
	timeout time.Duration
}

// Write fails when the client does not take the next bytes in time.
func (c *steadyConn) Write(b []byte) (int, error) {
	written := 0
	for {
		if err := c.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
			return written, err
		}
		part := b[written:min(len(b), written+writeBytes)]
		n, err := c.Conn.Write(part)
		written += n
		if err != nil || written == len(b) {
			return written, err
		}
	}
}

// shownAddr is where clients of this machine find a listener.
func shownAddr(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return l.Addr().String()
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
