package terminal

import "golang.org/x/sys/unix"

// ioctl requests that read and set the terminal mode.
const (
	getMode = unix.TCGETS
	setMode = unix.TCSETS
)

// flushInput discards input that has been typed but not yet read.
func flushInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
