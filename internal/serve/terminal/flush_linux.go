package terminal

import "golang.org/x/sys/unix"

// How the mode of a terminal is read and set.
const (
	getMode = unix.TCGETS
	setMode = unix.TCSETS
)

// flushInput drops what was typed and not read.
func flushInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
