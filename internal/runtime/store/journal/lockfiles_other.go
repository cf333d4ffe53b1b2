//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package journal

// lockFiles does nothing, because on these operating systems a process opens the lock files each
// time it acquires the lock.
type lockFiles struct{}

func (*lockFiles) tryLock(string) bool { return false }
func (*lockFiles) replaced() bool      { return false }
func (*lockFiles) unlock()             {}
func (*lockFiles) close()              {}
