//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package journal

import (
	"os"
	"syscall"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// lockFiles keeps the files of a [processLock] open, so that a free lock can be acquired quickly.
// The zero value has no open files.
type lockFiles struct{ next, turn *os.File }

// tryLock acquires the process lock if no other process holds it or waits for it.
func (l *lockFiles) tryLock(path string) bool {
	if l.replaced() {
		l.close()
	}
	if l.turn == nil && !l.open(path) {
		return false
	}
	if !tryLock(l.next) {
		return false
	}
	ok := tryLock(l.turn)
	unlock(l.next)
	return ok
}

// replaced reports whether the open lock files have been removed, so that other processes might use
// new ones.
func (l *lockFiles) replaced() bool {
	if l.turn == nil {
		return false
	}
	for _, f := range []*os.File{l.next, l.turn} {
		if info, err := f.Stat(); err != nil || quickfile.Removed(info) {
			return true
		}
	}
	return false
}

func (l *lockFiles) unlock() { unlock(l.turn) }

func (l *lockFiles) open(path string) bool {
	const flags = os.O_RDWR | os.O_CREATE | syscall.O_NOFOLLOW
	next, err := os.OpenFile(path+"-next", flags, 0o600)
	if err != nil {
		return false
	}
	turn, err := os.OpenFile(path+"-turn", flags, 0o600)
	if err != nil {
		_ = next.Close()
		return false
	}
	l.next, l.turn = next, turn
	return true
}

func (l *lockFiles) close() {
	if l.turn != nil {
		_, _ = l.next.Close(), l.turn.Close()
		*l = lockFiles{}
	}
}

func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
