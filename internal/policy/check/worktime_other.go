//go:build !linux

package check

import "time"

var programStart = time.Now()

// workTime returns the elapsed time, because the processor time of a thread is not available.
func workTime() time.Duration { return time.Since(programStart) }
