package pipe

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readOnce reads what fd, which does not block, has at once.
func readOnce(fd uintptr, b []byte) (int, error) { return once(syscall.SYS_READ, fd, b) }

// writeOnce writes what fd, which does not block, takes at once. b is not empty.
func writeOnce(fd uintptr, b []byte) (int, error) { return once(syscall.SYS_WRITE, fd, b) }

// once does not tell the scheduler of a call that cannot wait.
func once(call, fd uintptr, b []byte) (int, error) {
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

// Own gives the same end of a pipe that f is, not blocking, to this process alone: whoever
// else has f keeps it as it was. Where that is not possible, it gives f itself. It is to be
// closed beside f.
func Own(f *os.File) *os.File {
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
