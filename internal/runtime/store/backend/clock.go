package backend

import (
	"fmt"
	"time"
)

// Skew is the maximum time that a clock may lag behind the newest record.
const Skew = time.Minute

// ClockError is the error of an [Op] that admits a call but is too old. At is the time of the op,
// and Newest is the time of the newest record. A ClockError matches [ErrClock].
type ClockError struct{ At, Newest time.Time }

func (e *ClockError) Error() string {
	return fmt.Sprintf("%v: the last record is from %s, %s later than now; set the clock or, if it was ahead then, run petrigate stop and then petrigate start",
		ErrClock, e.Newest.UTC().Format(time.RFC3339), e.Newest.Sub(e.At).Round(time.Second))
}

// Unwrap makes [errors.Is] match [ErrClock].
func (e *ClockError) Unwrap() error { return ErrClock }

// Behind returns a [ClockError] with the times of an op and of the newest record.
func Behind(at, newest time.Time) error { return &ClockError{at, newest} }
