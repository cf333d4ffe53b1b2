package check

import (
	"syscall"
	"time"
)

// workTime returns the processor time of this thread. A bound on it is as thorough on a busy
// machine as on an idle one. The caller must stay on its thread.
func workTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		return 0 // cannot happen; searches bounded by states still end
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
