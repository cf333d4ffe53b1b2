package daemon

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// enlargePipe enlarges the pipe so that it can hold a large result. Writing a result then wakes the
// reader only a few times instead of once for each memory page. A failure does not matter.
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
