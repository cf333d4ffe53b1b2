//go:build unix

package main

import (
	"io"
	"os"
	"syscall"
)

// pollable makes reading a pipe park the goroutine and not a thread of the
// system, so that what the reader starts runs at once. Terminals and files
// stay as they are: others may share them.
func pollable(r io.Reader) io.Reader {
	f, ok := r.(*os.File)
	if !ok {
		return r
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return r
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return r
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return r
	}
	return os.NewFile(uintptr(fd), f.Name())
}
