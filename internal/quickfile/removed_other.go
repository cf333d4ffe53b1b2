//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package quickfile

import "os"

// Removed is not known here.
func Removed(os.FileInfo) bool { return false }
