//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package quickfile

import "os"

// Removed always returns false. It is not implemented on this operating system.
func Removed(os.FileInfo) bool { return false }
