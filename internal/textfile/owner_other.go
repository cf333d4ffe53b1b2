//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package textfile

import (
	"io/fs"
	"os"
)

func keepOwner(*os.File, fs.FileInfo) error { return nil }

// Linked reports whether the file has several names (hard links). It always returns false on this
// system.
func Linked(fs.FileInfo) bool { return false }
