//go:build linux && (amd64 || arm64)

package quickfile

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A File writes and examines a file using raw system calls, which the Go scheduler does not notice.
// A regular system call would make the scheduler wake another thread. That would be wasteful,
// because writes to the page cache of a local file system rarely block. After a slow write, the
// File uses regular system calls for a while. The zero value always uses regular system calls.
type File struct {
	local        bool
	regularUntil time.Time // time until which regular system calls are used
}

// stalled is the duration above which a write has probably waited for the disk. After such a write,
// the File uses regular system calls until regularFor has passed since the start of the write.
const (
	stalled    = 30 * time.Millisecond
	regularFor = 10 * time.Second
)

// Of returns a File for an open file.
func Of(f *os.File) File { return File{local: Local(f)} }

// Write appends all of b to the file.
func (q *File) Write(f *os.File, b []byte) (int, error) {
	begun := time.Now()
	if q.useRegularCall(begun, b) {
		return f.Write(b)
	}
	r, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, f.Fd(), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	n, err := q.writeResult(f, begun, int(r), errno)
	if n == len(b) || err != nil {
		return n, err
	}
	rest, err := f.Write(b[n:]) // if an error such as a full disk has cut the first write short, the second write returns the error
	return n + rest, err
}

// WriteAt writes all of b at the given offset.
func (q *File) WriteAt(f *os.File, b []byte, offset int64) (int, error) {
	begun := time.Now()
	if q.useRegularCall(begun, b) {
		return f.WriteAt(b, offset)
	}
	r, _, errno := syscall.RawSyscall6(syscall.SYS_PWRITE64, f.Fd(), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(offset), 0, 0)
	n, err := q.writeResult(f, begun, int(r), errno)
	if n == len(b) || err != nil {
		return n, err
	}
	rest, err := f.WriteAt(b[n:], offset+int64(n))
	return n + rest, err
}

// useRegularCall reports whether to use a regular system call, which informs the scheduler.
func (q *File) useRegularCall(now time.Time, b []byte) bool {
	return !q.local || len(b) == 0 || now.Before(q.regularUntil)
}

// writeResult converts the results of a raw write to the number of bytes written and an error. If
// the write was slow, it also switches to regular system calls for a while.
func (q *File) writeResult(f *os.File, begun time.Time, n int, errno syscall.Errno) (int, error) {
	switch errno {
	case 0:
	case syscall.EINTR:
		n = 0
	default:
		return 0, &os.PathError{Op: "write", Path: f.Name(), Err: errno}
	}
	if time.Since(begun) > stalled {
		q.regularUntil = begun.Add(regularFor)
	}
	return n, nil
}

var empty [1]byte // empty path for statx, with its terminating NUL

// State returns the file's size. It also reports whether the file was removed; if so, further
// writes would be lost.
func (q *File) State(f *os.File) (size int64, gone bool, err error) {
	if !q.local {
		info, err := f.Stat()
		if err != nil {
			return 0, false, err
		}
		return info.Size(), Removed(info), nil
	}
	// Do not request timestamps, so that the file system need not update them with each write.
	var s unix.Statx_t
	_, _, errno := syscall.RawSyscall6(unix.SYS_STATX, f.Fd(), uintptr(unsafe.Pointer(&empty)), unix.AT_EMPTY_PATH, unix.STATX_SIZE|unix.STATX_NLINK, uintptr(unsafe.Pointer(&s)), 0)
	if errno != 0 {
		return 0, false, &os.PathError{Op: "stat", Path: f.Name(), Err: errno}
	}
	return int64(s.Size), s.Nlink == 0, nil
}
