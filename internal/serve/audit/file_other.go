//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package audit

import (
	"fmt"
	"os"
)

func openFile(path string, flags int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return nil, fmt.Errorf("%q is a symbolic link", path)
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|flags, 0o600)
}

// state tells the size of the file. Whether it was removed is not known here.
func state(f *os.File) (size int64, removed bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), false, nil
}

// Without a lock only one process may write the file.
func lock(*os.File) error { return nil }
func unlock(*os.File)     {}
