package backend

import (
	"fmt"
	"time"
)

// Skew is by how much a clock may be behind the newest record.
const Skew = time.Minute

// Behind is the error of an [Op] that reserves at a time before that of the newest record.
func Behind(at, newest time.Time) error {
	return fmt.Errorf("%w: the last record is of %s, %s later than now; set the clock, or, if it was ahead then, stop and start once",
		ErrClock, newest.UTC().Format(time.RFC3339), newest.Sub(at).Round(time.Second))
}
