package check

import (
	"syscall"
	"time"
)

// workTime returns the processor time that the current thread has used. The caller must have locked
// its goroutine to the thread. A limit on this time, unlike a limit on elapsed time, lets a
// verification do the same work on a busy machine as on an idle one.
func workTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		return 0 // getrusage never fails here; if it did, a limit on states would still end the search
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
