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
	closed bool // no more background work can begin
	waited bool // Wait was called
}

// New returns a Lifetime that has begun.
func New(now func() time.Time, log *slog.Logger) *Lifetime {
	l := &Lifetime{Now: now, Log: log}
	l.Ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Background runs f on a new goroutine; Wait waits for it. If the proxy is shutting down, Background
// does not run f and reports false.
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

// End cancels Ctx. No background work can begin after it.
func (l *Lifetime) End() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
}

// Hold makes Wait wait for Release, even during shutdown, because a request still has an outcome to
// record. After Wait was called it reports false; the caller must then not call Release.
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

// Wait waits for the goroutines of Background and for the release of each Hold. Call End first.
func (l *Lifetime) Wait() {
	l.mu.Lock()
	l.waited = true
	l.mu.Unlock()
	l.work.Wait()
}

// Sleep waits for d. It reports false if the proxy shuts down first.
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

// Recovered recovers from a panic of a request and answers it with an internal error. It must be
// deferred directly.
func (l *Lifetime) Recovered(method string, id []byte, s spec.Stream) {
	if v := recover(); v != nil {
		l.Log.Error("a request failed inside", "method", method, "panic", v, "stack", string(debug.Stack()))
		s.Reply(wire.AppendError(nil, id, spec.CodeInternal, "The request failed inside the proxy; nothing more was done.", nil))
	}
}

// RandomID returns an unguessable identifier with a prefix.
func RandomID(prefix string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return prefix + hex.EncodeToString(b[:])
}
