//go:build linux && (amd64 || arm64)

package quickfile

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A File is asked and written by system calls without telling the scheduler: into the memory of a file system of this machine they do not wait as a rule, while
// to tell the scheduler wakes another thread for each call of a client. Where a write has
// waited all the same, for a disk that is behind, the scheduler is told for a while. The
// zero value always tells it.
type File struct {
	local bool
	told  time.Time // until then the scheduler is told
}

// A write that takes longer than stalled, which is more than another process takes the
// processor away for, has waited, and the scheduler is told for a while.
const (
	stalled = 30 * time.Millisecond
	tell    = 10 * time.Second
)

// Of returns the quick file of a file that is open.
func Of(f *os.File) File { return File{local: Local(f)} }

// Write writes all of b at the end of the file.
func (q *File) Write(f *os.File, b []byte) (int, error) {
	begun := time.Now()
	if q.tells(begun, b) {
		return f.Write(b)
	}
	r, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, f.Fd(), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	n, err := q.written(f, begun, int(r), errno)
	if n == len(b) || err != nil {
		return n, err
	}
	rest, err := f.Write(b[n:]) // which says why there is a rest
	return n + rest, err
}

// WriteAt writes all of b at an offset of the file.
func (q *File) WriteAt(f *os.File, b []byte, offset int64) (int, error) {
	begun := time.Now()
	if q.tells(begun, b) {
		return f.WriteAt(b, offset)
	}
	r, _, errno := syscall.RawSyscall6(syscall.SYS_PWRITE64, f.Fd(), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(offset), 0, 0)
	n, err := q.written(f, begun, int(r), errno)
	if n == len(b) || err != nil {
		return n, err
	}
	rest, err := f.WriteAt(b[n:], offset+int64(n))
	return n + rest, err
}

// tells reports whether to use a system call that the scheduler knows about.
func (q *File) tells(now time.Time, b []byte) bool {
	return !q.local || len(b) == 0 || now.Before(q.told)
}

// written returns the result of a raw write. After a slow one, the next writes tell the scheduler for a while.
func (q *File) written(f *os.File, begun time.Time, n int, errno syscall.Errno) (int, error) {
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
	return n, nil
}

var empty [1]byte // a path

// State tells the size of the file, and whether it has no name any more: what is written to
// it then is lost.
func (q *File) State(f *os.File) (size int64, gone bool, err error) {
	if !q.local {
		info, err := f.Stat()
		if err != nil {
			return 0, false, err
		}
		return info.Size(), Removed(info), nil
	}
	// Who asks for the times, too, has the file system write new ones with each line.
	var s unix.Statx_t
	_, _, errno := syscall.RawSyscall6(unix.SYS_STATX, f.Fd(), uintptr(unsafe.Pointer(&empty)), unix.AT_EMPTY_PATH, unix.STATX_SIZE|unix.STATX_NLINK, uintptr(unsafe.Pointer(&s)), 0)
	if errno != 0 {
		return 0, false, &os.PathError{Op: "stat", Path: f.Name(), Err: errno}
	}
	return int64(s.Size), s.Nlink == 0, nil
}
