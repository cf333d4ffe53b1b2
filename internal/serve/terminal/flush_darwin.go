package terminal

import "golang.org/x/sys/unix"

// flushInput drops what was typed and not read.
func flushInput(fd int) error {
	const input = 1 // FREAD
	return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, input)
}
