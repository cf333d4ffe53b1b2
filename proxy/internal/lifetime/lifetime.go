// Package lifetime has the time for which a proxy runs: its context, its clock and its
// log, and the goroutines that it runs beside requests.
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

// A Lifetime is the time for which a proxy runs: its context, clock and log, and the
// goroutines that it runs beside requests.
type Lifetime struct {
	Now func() time.Time
	Log *slog.Logger

	Ctx    context.Context //nolint:containedctx // the lifetime of the proxy's own work
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	closed bool // no more work begins
	waited bool // Wait has been called
}

// New returns a Lifetime that has begun.
func New(now func() time.Time, log *slog.Logger) *Lifetime {
	l := &Lifetime{Now: now, Log: log}
	l.Ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Background runs f on a goroutine, and Wait waits for it. It reports false, and does not
// run f, if the proxy is ending.
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

// End cancels Ctx, and lets no more work begin.
func (l *Lifetime) End() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
}

// Hold makes Wait wait for Release, also where the proxy is ending: the goroutine of a
// request has something to record. It reports false once Wait has been called; then nothing
// is to be released.
func (l *Lifetime) Hold() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.waited {
		l.work.Add(1)
	}
	return !l.waited
}

// Release ends what a successful Hold began.
func (l *Lifetime) Release() { l.work.Done() }

// Wait waits for the goroutines of Background and for each Hold to be released. Call End before.
func (l *Lifetime) Wait() {
	l.mu.Lock()
	l.waited = true
	l.mu.Unlock()
	l.work.Wait()
}

// Sleep waits for d. It reports false if the proxy ends.
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

// Recovered answers a request that panicked with an internal error. It must be deferred.
func (l *Lifetime) Recovered(method string, id []byte, s spec.Stream) {
	if v := recover(); v != nil {
		l.Log.Error("a request failed inside", "method", method, "panic", v, "stack", string(debug.Stack()))
		s.Reply(wire.AppendError(nil, id, spec.CodeInternal, "The request failed inside the proxy; nothing more was done.", nil))
	}
}

// RandomID returns an identifier that nobody can guess.
func RandomID(prefix string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return prefix + hex.EncodeToString(b[:])
}
