package daemon

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/config"
)

// Default limits of connections. None of them ends a silent stream: the endpoint itself limits how
// long a request may take to arrive, since it knows when the request is complete.
const (
	headerTimeout  = 10 * time.Second // to send the headers of a request
	idleTimeout    = 5 * time.Minute  // between two requests
	writeTimeout   = 30 * time.Second // for a client to read the next bytes
	headerBytes    = 64 << 10
	bodyTimeout    = 10 * time.Second // to send the body of a request at other endpoints than the MCP endpoint
	writeBytes     = 256 << 10        // bytes that a client must read within writeTimeout
	maxConnections = 25_000           // or half of the files that the process may open, if that is less
)

// Time limits of a shutdown.
const (
	drainTimeout    = 5 * time.Second // for calls to end by themselves
	farewellTimeout = time.Second     // for the responses to calls that were canceled
)

func newServer(h http.Handler, l config.Listen) *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true) // limits apply to connections, so each must belong to one client and carry one request at a time
	return &http.Server{
		Handler:           h,
		Protocols:         protocols,
		ReadHeaderTimeout: cmp.Or(l.Timeouts.Header, headerTimeout),
		IdleTimeout:       cmp.Or(l.Timeouts.KeepAlive, idleTimeout),
		MaxHeaderBytes:    cmp.Or(l.MaxHeader, headerBytes),
	}
}

// shutdown accepts no new requests, waits for calls to end, then cancels them, and closes the
// connections of clients that do not read the response.
func shutdown(server *http.Server, cut func() error) error {
	if withTimeout(drainTimeout, server.Shutdown) == nil {
		return nil
	}
	err := cut()
	if withTimeout(farewellTimeout, server.Shutdown) != nil {
		_ = server.Close() // they had farewellTimeout to read it
	}
	return err
}

func withTimeout(d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return f(ctx)
}
