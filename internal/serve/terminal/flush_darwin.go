package terminal

import "golang.org/x/sys/unix"

// How the mode of a terminal is read and set.
const (
	getMode = unix.TIOCGETA
	setMode = unix.TIOCSETA
)

// flushInput drops what was typed and not read.
func flushInput(fd int) error {
	const input = 1 // FREAD
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, input)
}
