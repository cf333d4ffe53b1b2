package terminal

import "golang.org/x/sys/unix"

// Requests to read and set the mode of a terminal.
const (
	getMode = unix.TIOCGETA
	setMode = unix.TIOCSETA
)

// flushInput discards input that was typed and not read yet.
func flushInput(fd int) error {
	const input = 1 // FREAD
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, input)
}
