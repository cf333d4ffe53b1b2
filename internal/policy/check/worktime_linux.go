package check

import (
	"syscall"
	"time"
)

// workTime is what this thread has had of the processor. What is bounded by it
// is as thorough on a busy machine as on an idle one. The caller keeps to the
// thread.
func workTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &u); err != nil {
		return 0 // it cannot fail; what is bounded by states still ends
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
