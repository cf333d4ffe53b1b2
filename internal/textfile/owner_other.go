//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package textfile

import (
	"io/fs"
	"os"
)

func keepOwner(*os.File, fs.FileInfo) error { return nil }

// Linked reports whether a file has more than one name (hard link). On this system it always
// returns false.
func Linked(fs.FileInfo) bool { return false }
