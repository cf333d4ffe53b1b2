package terminal

import "golang.org/x/sys/unix"

// ioctl requests that read and set the terminal mode.
const (
	getMode = unix.TIOCGETA
	setMode = unix.TIOCSETA
)

// flushInput discards input that has been typed but not yet read.
func flushInput(fd int) error {
	const input = 1 // FREAD, which means that only input is discarded
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, input)
}
