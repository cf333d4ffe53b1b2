//go:build linux && (amd64 || arm64)

package quickfile

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Flusher flushes a file by the asynchronous input and output of Linux (see io_submit(2)), so that no
// thread waits for the disk. Go's scheduler takes the processor away from a thread that waits and starts
// another one, which costs about as much time as a flush of a fast disk. The Flusher calls fdatasync(2)
// where the system does not allow asynchronous flushes, and for the first flush of a file, because most
// files are flushed once. The zero value is ready. One goroutine at a time may use it.
type Flusher struct {
	again   bool     // it was used
	usual   bool     // the system does not do it otherwise
	ended   *os.File // an eventfd that becomes readable at the end of a flush; nil: not open yet
	context uintptr
	request *iocb
	event   *ioEvent
}

// The structures of linux/aio_abi.h, for processors that are little-endian.
type (
	iocb struct {
		_       [2]uint64 // data, key, rw_flags
		opcode  uint16
		_       int16 // reqprio
		fd      uint32
		_       [4]uint64 // buf, nbytes, offset, reserved2
		flags   uint32
		eventfd uint32
	}
	ioEvent struct {
		_      [2]uint64 // data, obj
		result int64
		_      int64 // res2
	}
)

const (
	flushData     = 3 // IOCB_CMD_FDSYNC
	tellByEventfd = 1 // IOCB_FLAG_RESFD
)

// Flush brings the content of the file to the disk, as fdatasync(2) does. The file stays open meanwhile.
func (l *Flusher) Flush(f *os.File) error {
	if l.again && !l.usual && l.ended == nil {
		l.usual = l.open() != nil
	}
	fd, first := f.Fd(), !l.again
	if l.again = true; first || l.usual || !l.begin(fd) {
		return fdatasync(fd)
	}
	if errno := l.await(); errno != 0 {
		return &os.PathError{Op: "flush", Path: f.Name(), Err: errno}
	}
	if l.event.result < 0 {
		return &os.PathError{Op: "flush", Path: f.Name(), Err: syscall.Errno(-l.event.result)}
	}
	return nil
}

// await waits for the end of the flush, in the scheduler where that can wait for an eventfd.
func (l *Flusher) await() syscall.Errno {
	var count [8]byte
	if _, err := l.ended.Read(count[:]); err == nil {
		_, _, errno := syscall.RawSyscall6(unix.SYS_IO_GETEVENTS, l.context, 1, 1, uintptr(unsafe.Pointer(l.event)), 0, 0)
		return errno
	}
	for {
		if _, _, errno := syscall.Syscall6(unix.SYS_IO_GETEVENTS, l.context, 1, 1, uintptr(unsafe.Pointer(l.event)), 0, 0); errno != unix.EINTR {
			return errno
		}
	}
}

func (l *Flusher) open() error {
	if _, _, errno := syscall.RawSyscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&l.context)), 0); errno != 0 {
		return errno
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		l.Close()
		return err
	}
	l.ended, l.request, l.event = os.NewFile(uintptr(fd), "eventfd"), new(iocb), new(ioEvent)
	l.request.opcode, l.request.flags, l.request.eventfd = flushData, tellByEventfd, uint32(fd)
	return nil
}

// begin begins a flush, or reports false where the system does not.
func (l *Flusher) begin(fd uintptr) bool {
	l.request.fd = uint32(fd)
	n, _, errno := syscall.RawSyscall(unix.SYS_IO_SUBMIT, l.context, 1, uintptr(unsafe.Pointer(&l.request)))
	return n == 1 && errno == 0
}

func fdatasync(fd uintptr) error {
	for {
		if err := unix.Fdatasync(int(fd)); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Close closes the eventfd and the context. No flush may run.
func (l *Flusher) Close() {
	if l.context != 0 {
		_, _, _ = syscall.RawSyscall(unix.SYS_IO_DESTROY, l.context, 0, 0)
	}
	if l.ended != nil {
		_ = l.ended.Close()
	}
	*l = Flusher{usual: true}
}
