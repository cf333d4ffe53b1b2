//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package quickfile

import "os"

// Removed always returns false, because this system is not supported.
func Removed(os.FileInfo) bool { return false }
