package terminal

import "golang.org/x/sys/unix"

// Requests to read and set the mode of a terminal.
const (
	getMode = unix.TCGETS
	setMode = unix.TCSETS
)

// flushInput discards input that was typed and not read yet.
func flushInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
