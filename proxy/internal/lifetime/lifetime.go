// Package lifetime manages the lifetime of a proxy: its context, clock, log, and background
// goroutines.
package lifetime

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Lifetime holds the context, clock and log of a proxy, and counts its background goroutines. It
// is safe for concurrent use.
type Lifetime struct {
	Now func() time.Time
	Log *slog.Logger
	Ctx context.Context //nolint:containedctx // the lifetime of the proxy's own work

	// Unrecorded counts the requests whose outcomes have not been recorded yet. Wait waits for all
	// of them, including those that begin during the shutdown.
	Unrecorded wait.Group

	cancel context.CancelFunc
	work   wait.Group
}

// New returns a lifetime that starts now.
func New(now func() time.Time, log *slog.Logger) *Lifetime {
	l := &Lifetime{Now: now, Log: log}
	l.Ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Background runs f in a new goroutine, which Wait waits for. If the proxy is shutting down,
// Background returns false without running f.
func (l *Lifetime) Background(f func()) bool { return l.work.Go(f) }

// End cancels Ctx. No background work can start after that.
func (l *Lifetime) End() {
	l.work.Close()
	l.cancel()
}

// Wait waits until all goroutines started by Background have ended and all outcomes have been
// recorded. End must be called first.
func (l *Lifetime) Wait() {
	l.Unrecorded.Close()
	l.work.Wait()
	l.Unrecorded.Wait()
}

// Recover recovers from a panic in a request handler and responds with an internal error. It must
// be called directly by a defer statement.
func (l *Lifetime) Recover(method string, id []byte, s spec.Stream) {
	if v := recover(); v != nil {
		l.Log.Error("a request panicked", "method", method, "panic", v, "stack", string(debug.Stack()))
		s.Reply(wire.AppendError(nil, id, wire.CodeInternal, "The request failed inside the proxy; it was not continued.", nil))
	}
}

// RandomID returns an identifier that begins with prefix and cannot be guessed.
func RandomID(prefix string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // Read never fails
	return prefix + hex.EncodeToString(b[:])
}
