// Package lifetime manages the lifetime of a proxy: its context, its clock, its log, and its
// background goroutines.
package lifetime

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Lifetime holds the context, clock and log of a proxy, and counts its background goroutines. It
// is safe for concurrent use. mu guards closed and waited.
type Lifetime struct {
	Now func() time.Time
	Log *slog.Logger

	Ctx    context.Context //nolint:containedctx // the lifetime of the proxy's own work
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	closed bool // whether no more background work may start
	waited bool // whether Wait was called
}

// New returns a lifetime that starts now.
func New(now func() time.Time, log *slog.Logger) *Lifetime {
	l := &Lifetime{Now: now, Log: log}
	l.Ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Background runs f in a new goroutine; Wait waits for this goroutine. If the proxy is shutting
// down, Background does not run f and returns false.
func (l *Lifetime) Background(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.work.Add(1)
	go func() {
		defer l.work.Done()
		f()
	}()
	return true
}

// End cancels Ctx. No background work can start afterwards.
func (l *Lifetime) End() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
}

// Hold makes Wait wait until Release is called, even during shutdown, because the outcome of a
// request has not been recorded yet. After Wait has been called, Hold returns false, and the caller
// must not call Release.
func (l *Lifetime) Hold() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.waited {
		l.work.Add(1)
	}
	return !l.waited
}

// Release undoes a successful Hold.
func (l *Lifetime) Release() { l.work.Done() }

// Wait waits until all goroutines started by Background have ended and Release was called for each
// Hold. End must be called first.
func (l *Lifetime) Wait() {
	l.mu.Lock()
	l.waited = true
	l.mu.Unlock()
	l.work.Wait()
}

// Sleep sleeps for d. It returns false if the proxy shuts down before that.
func (l *Lifetime) Sleep(d time.Duration) bool {
	if d <= 0 {
		return l.Ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.Ctx.Done():
		return false
	}
}

// Recovered recovers from a panic in the handling of a request, and responds with an internal
// error. It must be deferred directly.
func (l *Lifetime) Recovered(method string, id []byte, s spec.Stream) {
	if v := recover(); v != nil {
		l.Log.Error("a request panicked", "method", method, "panic", v, "stack", string(debug.Stack()))
		s.Reply(wire.AppendError(nil, id, spec.CodeInternal, "The request failed inside the proxy; it was not continued.", nil))
	}
}

// RandomID returns an identifier that begins with prefix and cannot be guessed.
func RandomID(prefix string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}
