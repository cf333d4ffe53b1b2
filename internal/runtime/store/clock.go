package store

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A Clock is what the database has said of the clock of this process. It is safe for
// concurrent use.
type Clock struct {
	late atomic.Pointer[backend.ClockError] // of the last op that reserved; nil: the clock was right
}

// hear notes what came of an op.
func (c *Clock) hear(op *backend.Op) {
	switch {
	case !op.Reserve:
	case op.Err == nil:
		if c.late.Load() != nil {
			c.late.Store(nil)
		}
	default:
		var late *backend.ClockError // escapes to the heap
		if errors.As(op.Err, &late) {
			c.late.Store(late)
		}
	}
}

// heard is for how long a refusal says that the clock is wrong. Then a call has to try it
// again: the kill switch may have been used elsewhere, and a balancer may send no calls
// while this process is not ready.
const heard = time.Minute

// Behind says why a decision would be refused now for the clock, as the last that was tried
// says; nil: it would not, or that is not known.
func (c *Clock) Behind(now time.Time) error {
	late := c.late.Load()
	if late == nil || !now.Before(late.Newest.Add(-backend.Skew)) || now.Sub(late.At) > heard {
		return nil
	}
	return &backend.ClockError{At: now, Newest: late.Newest}
}
