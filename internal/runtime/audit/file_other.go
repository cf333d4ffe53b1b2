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

// File locks are not implemented for these operating systems, so only one process may write to the
// file.
func lock(*os.File) error  { return nil }
func unlock(*os.File)      {}
func share(*os.File) error { return nil }
func alone(*os.File) bool  { return false }

func mapFile(*os.File, int) []byte { return nil }
func unmapFile([]byte)             {}
