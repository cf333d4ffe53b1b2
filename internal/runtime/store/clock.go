package store

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Clock tracks whether the database rejects steps because this process's clock is behind. It is
// safe for concurrent use.
type Clock struct {
	late atomic.Pointer[backend.ClockError] // latest clock error of an op that admits a call, or nil if such an op has been committed since
}

// observe updates the clock from an op's result.
func (c *Clock) observe(op *backend.Op) {
	switch {
	case !op.Reserve:
	case op.Err == nil:
		if c.late.Load() != nil {
			c.late.Store(nil)
		}
	default:
		var late *backend.ClockError // declared here, so that only this case allocates it on the heap
		if errors.As(op.Err, &late) {
			c.late.Store(late)
		}
	}
}

// maxReportAge limits how long [Clock.Behind] reports an error after the database has rejected an
// op. When another process uses the kill switch, the database accepts earlier times again, but this
// process does not learn this until it commits another op. Without the limit, a load balancer might
// never send calls to this process again.
const maxReportAge = time.Minute

// Behind returns the error that the database would return for a decision at the given time. It
// returns nil if the clock has caught up or if the database has not rejected an op recently.
func (c *Clock) Behind(now time.Time) error {
	late := c.late.Load()
	if late == nil || !now.Before(late.Newest.Add(-backend.Skew)) || now.Sub(late.At) > maxReportAge {
		return nil
	}
	return &backend.ClockError{At: now, Newest: late.Newest}
}
