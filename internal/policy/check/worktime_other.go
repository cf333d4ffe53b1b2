//go:build !linux

package check

import "time"

var programStart = time.Now()

// workTime returns the elapsed time, because a thread's processor time is not available.
func workTime() time.Duration { return time.Since(programStart) }
