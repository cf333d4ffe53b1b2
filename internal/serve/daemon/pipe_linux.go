package daemon

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// enlargePipe enlarges the buffer of a pipe, so that writing a large result wakes the reader a few
// times rather than once for each memory page. It ignores errors.
func enlargePipe(w io.Writer) {
	f, ok := w.(*os.File)
	if !ok {
		return
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
}
