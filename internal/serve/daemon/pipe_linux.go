package daemon

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// enlargePipe lets a pipe hold a large result whole, so that writing it wakes its
// reader a few times and not once for each page. It does not matter if the
// system refuses.
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
