//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package journal

import (
	"os"
	"syscall"

	"github.com/petrigate/petrigate/internal/quickfile"
)

// A pair of locks is the files of a turnstile, kept open, for a process that meets nobody
// there. The zero value is closed.
type locks struct{ next, turn *os.File }

// take takes a turn if nobody else has one, nor waits for one.
func (l *locks) take(path string) bool {
	if l.lost() {
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

// lost reports whether somebody has removed the files: other processes have other ones then.
func (l *locks) lost() bool {
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

// give ends the turn.
func (l *locks) give() { unlock(l.turn) }

func (l *locks) open(path string) bool {
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

func (l *locks) close() {
	if l.turn != nil {
		_, _ = l.next.Close(), l.turn.Close()
		*l = locks{}
	}
}

func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
