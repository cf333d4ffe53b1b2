//go:build linux && (amd64 || arm64)

package audit

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A quick file is asked and written by calls of the system of which the scheduler does not
// hear: into the memory of a file system of this machine they do not wait as a rule, while
// to tell the scheduler wakes another thread for each call of a client. Where a write has
// waited all the same, for a disk that is behind, the scheduler is told for a while. The
// zero value always tells it.
type quick struct {
	local bool
	told  time.Time // until then the scheduler is told
}

// A write that takes longer than stalled has waited, and the scheduler is told for a minute.
const (
	stalled = 2 * time.Millisecond
	tell    = time.Minute
)

// quickFile says whether the file is on a file system of this machine.
func quickFile(f *os.File) quick {
	var s unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &s) != nil {
		return quick{}
	}
	switch s.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC:
		return quick{local: true}
	}
	return quick{}
}

// write writes all of b at the end of the file.
func (q *quick) write(f *os.File, b []byte) (int, error) {
	if !q.local || len(b) == 0 {
		return f.Write(b)
	}
	begun := time.Now()
	if begun.Before(q.told) {
		return f.Write(b)
	}
	r, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, f.Fd(), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	n := int(r)
	switch errno {
	case 0:
	case syscall.EINTR:
		n = 0
	default:
		return 0, &os.PathError{Op: "write", Path: f.Name(), Err: errno}
	}
	if time.Since(begun) > stalled {
		q.told = begun.Add(tell)
	}
	if n == len(b) {
		return n, nil
	}
	rest, err := f.Write(b[n:]) // which says why there is a rest
	return n + rest, err
}

// state tells the size of the file, and whether it has no name any more: what is written to
// it then is lost.
func (q *quick) state(f *os.File) (size int64, gone bool, err error) {
	if !q.local {
		info, err := f.Stat()
		if err != nil {
			return 0, false, err
		}
		return info.Size(), removed(info), nil
	}
	var s syscall.Stat_t
	if _, _, errno := syscall.RawSyscall(syscall.SYS_FSTAT, f.Fd(), uintptr(unsafe.Pointer(&s)), 0); errno != 0 {
		return 0, false, &os.PathError{Op: "stat", Path: f.Name(), Err: errno}
	}
	return s.Size, s.Nlink == 0, nil
}
