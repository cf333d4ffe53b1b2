//go:build !linux

package quickfile

import "os"

// Local always returns false. It is not implemented on this operating system.
func Local(*os.File) bool { return false }
