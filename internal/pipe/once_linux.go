package pipe

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// once makes a single system call that reads into b or writes b. The call bypasses the Go
// scheduler, so the file must be in non-blocking mode. b must not be empty.
func once(fd uintptr, b []byte, write bool) (int, error) {
	call := uintptr(syscall.SYS_READ)
	if write {
		call = syscall.SYS_WRITE
	}
	for {
		n, _, err := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch err {
		case 0:
			return int(n), nil
		case syscall.EINTR:
			continue
		}
		return 0, err
	}
}

// Reopen opens the pipe behind f a second time and returns a new file in non-blocking mode. The
// mode of f does not change, because other processes may share f. If f is not a pipe or cannot be
// reopened, Reopen returns f itself. The caller must close both files.
func Reopen(f *os.File) *os.File {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return f
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return f
	}
	own := f
	_ = raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		if err != nil {
			return
		}
		again, err := unix.Open("/proc/self/fd/"+strconv.Itoa(int(fd)), flags&unix.O_ACCMODE|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == nil {
			own = os.NewFile(uintptr(again), f.Name())
		}
	})
	return own
}
