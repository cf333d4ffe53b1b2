//go:build !linux

package check

import "time"

var programStart = time.Now()

// workTime is the time of the wall, where that of a thread is not known.
func workTime() time.Duration { return time.Since(programStart) }
