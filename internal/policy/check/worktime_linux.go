package check

import (
	"syscall"
	"time"
)

// workTime returns the processor time used by the current thread. The caller must have called
// runtime.LockOSThread. With a limit on this time, a verification does the same work on a busy
// machine as on an idle one.
func workTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		return 0 // getrusage never fails here; if it did, a limit on states would still end the search
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
