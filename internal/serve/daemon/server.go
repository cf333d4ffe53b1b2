package daemon

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/config"
)

// Default limits on connections. They allow streams to be silent for any length of time.
const (
	headerTimeout  = 10 * time.Second // time for a client to send the request headers
	idleTimeout    = 5 * time.Minute  // how long a connection may be idle between requests
	writeTimeout   = 30 * time.Second // time for a client to read the next writeBytes bytes
	headerBytes    = 64 << 10
	bodyTimeout    = 10 * time.Second // time for a client to send a request body; the MCP endpoint has its own limit
	writeBytes     = 256 << 10        // number of bytes that a client must read per writeTimeout
	maxConnections = 25_000           // maximum number of connections, or half of the open-file limit if that is less
)

// Time limits during a shutdown.
const (
	drainTimeout    = 5 * time.Second // time for calls to end by themselves
	farewellTimeout = time.Second     // time to send responses to canceled calls
)

func newServer(h http.Handler, l config.Listen) *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true) // no HTTP/2, because the limits assume that a connection carries one request at a time
	return &http.Server{
		Handler:           h,
		Protocols:         protocols,
		ReadHeaderTimeout: cmp.Or(l.Timeouts.Header, headerTimeout),
		IdleTimeout:       cmp.Or(l.Timeouts.KeepAlive, idleTimeout),
		MaxHeaderBytes:    cmp.Or(l.MaxHeader, headerBytes),
	}
}

// shutdown stops accepting requests and waits for in-flight calls to end. If requests are still in
// progress after drainTimeout, it calls the given function, which must cancel the remaining calls.
// After a further farewellTimeout, it closes the connections of clients that have not read their
// responses. It returns the error of the given function.
func shutdown(server *http.Server, cut func() error) error {
	if withTimeout(drainTimeout, server.Shutdown) == nil {
		return nil
	}
	err := cut()
	if withTimeout(farewellTimeout, server.Shutdown) != nil {
		_ = server.Close() // the clients have had farewellTimeout to read their responses
	}
	return err
}

func withTimeout(d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return f(ctx)
}
