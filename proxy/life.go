package proxy

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A life is the time that a proxy runs for, and the goroutines that it runs beside
// its requests.
type life struct {
	now func() time.Time
	log *slog.Logger

	ctx    context.Context //nolint:containedctx // the lifetime of the proxy's own work
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	closed bool // no more work begins
}

func newLife(now func() time.Time, log *slog.Logger) *life {
	l := &life{now: now, log: log}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// background runs f on a goroutine while the proxy lives; Close waits for it. It
// reports false where the proxy ends already.
func (l *life) background(f func()) bool {
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

// end cancels the work, and lets no more begin.
func (l *life) end() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
}

// sleep waits for d, if that is any time. It reports false if the proxy ends.
func (l *life) sleep(d time.Duration) bool {
	if d <= 0 {
		return l.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// recovered turns a panic into an error for the one request.
func (l *life) recovered(method string, id []byte, s stream) {
	if v := recover(); v != nil {
		l.log.Error("a request failed inside", "method", method, "panic", v, "stack", string(debug.Stack()))
		s.Reply(wire.AppendError(nil, id, codeInternal, "The request failed inside the proxy; nothing more was done.", nil))
	}
}
