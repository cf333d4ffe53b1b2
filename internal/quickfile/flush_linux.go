//go:build linux && (amd64 || arm64)

package quickfile

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Flusher flushes files with Linux asynchronous I/O (see io_submit(2)), so that no thread waits
// for the disk. If a thread blocked, the Go scheduler would hand its processor to another thread,
// and this takes about as long as a flush on a fast disk.
//
// The first flush uses fdatasync(2), because most files are flushed only once and setting up
// asynchronous I/O would not pay off. If the system does not support asynchronous flushes, all
// flushes use fdatasync.
//
// The zero value is ready to use. A Flusher is not safe for concurrent use.
type Flusher struct {
	used        bool     // whether Flush has been called before
	unsupported bool     // whether the system lacks support for asynchronous flushes
	completion  *os.File // eventfd that becomes readable when a flush completes; nil until opened
	context     uintptr
	request     *iocb
	event       *ioEvent
}

// Structures from linux/aio_abi.h, for little-endian processors.
type (
	iocb struct {
		_       [2]uint64 // the fields data, key and rw_flags
		opcode  uint16
		_       int16 // the field reqprio
		fd      uint32
		_       [4]uint64 // the fields buf, nbytes, offset and reserved2
		flags   uint32
		eventfd uint32
	}
	ioEvent struct {
		_      [2]uint64 // the fields data and obj
		result int64
		_      int64 // the field res2
	}
)

const (
	flushData       = 3 // named IOCB_CMD_FDSYNC in Linux
	notifyByEventfd = 1 // named IOCB_FLAG_RESFD in Linux
)

// Flush writes the file's contents to disk, like fdatasync(2). The file must stay open until Flush
// returns.
func (l *Flusher) Flush(f *os.File) error {
	if l.used && !l.unsupported && l.completion == nil {
		l.unsupported = l.open() != nil
	}
	fd, first := f.Fd(), !l.used
	if l.used = true; first || l.unsupported || !l.submit(fd) {
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

// await waits until the flush completes. If the scheduler can wait for an eventfd, await does not
// block a thread.
func (l *Flusher) await() syscall.Errno {
	var count [8]byte
	if _, err := l.completion.Read(count[:]); err == nil {
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
	l.completion, l.request, l.event = os.NewFile(uintptr(fd), "eventfd"), new(iocb), new(ioEvent)
	l.request.opcode, l.request.flags, l.request.eventfd = flushData, notifyByEventfd, uint32(fd)
	return nil
}

// submit starts a flush. It returns false if the system does not support asynchronous flushes.
func (l *Flusher) submit(fd uintptr) bool {
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

// Close closes the eventfd and the context for asynchronous I/O. It must not be called during a
// flush.
func (l *Flusher) Close() {
	if l.context != 0 {
		_, _, _ = syscall.RawSyscall(unix.SYS_IO_DESTROY, l.context, 0, 0)
	}
	if l.completion != nil {
		_ = l.completion.Close()
	}
	*l = Flusher{unsupported: true}
}
