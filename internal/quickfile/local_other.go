//go:build !linux

package quickfile

import "os"

// Local always returns false, because this system is not supported.
func Local(*os.File) bool { return false }
