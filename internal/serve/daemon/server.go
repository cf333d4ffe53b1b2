package daemon

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/config"
)

// Bounds of connections, where the configuration says no others. None of them
// ends a stream that is silent: how long a request may take to arrive is bounded
// by the endpoint itself, which knows when it is there.
const (
	headerTimeout  = 10 * time.Second // to send the headers of a request
	idleTimeout    = 5 * time.Minute  // between two requests
	writeTimeout   = 30 * time.Second // for a client to take the next bytes
	headerBytes    = 64 << 10
	bodyTimeout    = 10 * time.Second // for the body of a request beside the endpoint for clients
	writeBytes     = 256 << 10        // that a client has to take in writeTimeout
	maxConnections = 25_000           // or half the files that the process may open, if that is less
)

// How long calls may go on when the program is told to end.
const (
	drainTimeout    = 5 * time.Second // by themselves
	farewellTimeout = time.Second     // for the answers to those that were cut short
)

func newServer(h http.Handler, l config.Listen) *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true) // the bounds are those of a connection: it must be one client's, with one request at a time
	return &http.Server{
		Handler:           h,
		Protocols:         protocols,
		ReadHeaderTimeout: cmp.Or(l.Timeouts.Header, headerTimeout),
		IdleTimeout:       cmp.Or(l.Timeouts.KeepAlive, idleTimeout),
		MaxHeaderBytes:    cmp.Or(l.MaxHeader, headerBytes),
	}
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
