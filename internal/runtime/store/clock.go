package store

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Clock tracks whether the database rejects steps because the clock of this process is behind. It
// is safe for concurrent use.
type Clock struct {
	late atomic.Pointer[backend.ClockError] // error of the last op with Reserve; nil: the clock was right
}

// observe updates the clock from the result of an op.
func (c *Clock) observe(op *backend.Op) {
	switch {
	case !op.Reserve:
	case op.Err == nil:
		if c.late.Load() != nil {
			c.late.Store(nil)
		}
	default:
		var late *backend.ClockError // separate variable because it escapes to the heap
		if errors.As(op.Err, &late) {
			c.late.Store(late)
		}
	}
}

// maxReportAge is how long a clock error counts. After it a call must be tried again: the kill
// switch may have been used in another process, and a load balancer might send no calls to a
// process that is not ready.
const maxReportAge = time.Minute

// Behind returns the error that a decision at the time now would get from the database because the
// clock is behind its newest record. It returns nil if the clock is right, or if no recent attempt
// failed.
func (c *Clock) Behind(now time.Time) error {
	late := c.late.Load()
	if late == nil || !now.Before(late.Newest.Add(-backend.Skew)) || now.Sub(late.At) > maxReportAge {
		return nil
	}
	return &backend.ClockError{At: now, Newest: late.Newest}
}
