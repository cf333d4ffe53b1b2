//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package textfile

import (
	"io/fs"
	"os"
)

func keepOwner(*os.File, fs.FileInfo) error { return nil }

// Linked reports whether the file has several names (hard links). On this system, it always returns
// false.
func Linked(fs.FileInfo) bool { return false }
