package daemon

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/config"
)

// Default limits for connections. None of them ends a silent stream. The MCP endpoint itself limits
// how long a request may take to arrive, because only the endpoint knows when the request is
// complete.
const (
	headerTimeout  = 10 * time.Second // time for a client to send the request headers
	idleTimeout    = 5 * time.Minute  // maximum time between two requests
	writeTimeout   = 30 * time.Second // time for a client to read the next writeBytes bytes
	headerBytes    = 64 << 10
	bodyTimeout    = 10 * time.Second // time for a client to send the body of a request to an endpoint other than the MCP endpoint
	writeBytes     = 256 << 10        // number of bytes that a client must read within each writeTimeout
	maxConnections = 25_000           // maximum number of connections, or half of the files that the process may open, if that is less
)

// Time limits during a shutdown.
const (
	drainTimeout    = 5 * time.Second // time for calls to end by themselves
	farewellTimeout = time.Second     // time to send responses to canceled calls
)

func newServer(h http.Handler, l config.Listen) *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true) // the limits apply to connections, so each connection must belong to one client and carry one request at a time
	return &http.Server{
		Handler:           h,
		Protocols:         protocols,
		ReadHeaderTimeout: cmp.Or(l.Timeouts.Header, headerTimeout),
		IdleTimeout:       cmp.Or(l.Timeouts.KeepAlive, idleTimeout),
		MaxHeaderBytes:    cmp.Or(l.MaxHeader, headerBytes),
	}
}

// shutdown stops accepting requests and waits for the calls in flight. After a while it calls cut
// to cancel these calls, and closes the connections of clients that do not read the response.
func shutdown(server *http.Server, cut func() error) error {
	if withTimeout(drainTimeout, server.Shutdown) == nil {
		return nil
	}
	err := cut()
	if withTimeout(farewellTimeout, server.Shutdown) != nil {
		_ = server.Close() // at this point, the clients have had farewellTimeout to read the response
	}
	return err
}

func withTimeout(d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return f(ctx)
}
