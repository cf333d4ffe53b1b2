package postgres

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// health tracks whether the database is available and, if not, why. While the database is
// unavailable, one goroutine probes it (see [DB.probeLoop]). All other operations fail, immediately
// or after a short wait for a probe.
type health struct {
	requests chan struct{} // contains an element while a probe has been requested but has not begun

	mu     sync.Mutex
	err    error
	silent bool          // whether the last operation timed out
	began  time.Time     // when the current probe began; zero if no probe is in progress
	ended  chan struct{} // closed when the next probe ends
}

func newHealth() *health {
	return &health{requests: make(chan struct{}, 1), ended: make(chan struct{})}
}

func (h *health) get() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

func (h *health) set(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err, h.silent = err, timedOut(err)
}

// timedOut reports whether err means that the database did not answer in time.
func timedOut(err error) bool {
	return err != nil && (errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err))
}

// suspect records err, the error of a failed read, and requests a probe. Until the probe ends,
// other operations wait or fail.
func (h *health) suspect(err error) {
	h.mu.Lock()
	h.err = cmp.Or(h.err, err)
	h.mu.Unlock()
	h.requestProbe()
}

// lastTimedOut reports whether the last operation timed out.
func (h *health) lastTimedOut() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.silent
}

// requestProbe requests a probe unless a probe is in progress. It returns a channel that is closed
// when the next probe ends. It also returns the time when that probe began, or the zero time if the
// probe has not begun yet.
func (h *health) requestProbe() (ended <-chan struct{}, began time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.began.IsZero() {
		select {
		case h.requests <- struct{}{}:
		default:
		}
	}
	return h.ended, h.began
}

// waitForProbe requests a probe and waits until the probe ends or ctx is done.
func (h *health) waitForProbe(ctx context.Context) {
	ended, _ := h.requestProbe()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

func (h *health) beginProbe() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.began = time.Now()
}

func (h *health) endProbe() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.ended)
	h.ended, h.began = make(chan struct{}), time.Time{}
}
