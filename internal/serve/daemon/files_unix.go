//go:build unix

package daemon

import (
	"math"

	"golang.org/x/sys/unix"
)

// maxFiles is how many files and connections the process may have open.
func maxFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)) //nolint:unconvert // int64 on some systems
}
