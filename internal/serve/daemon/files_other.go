//go:build !unix

package daemon

import (
	"math"
	"os"
)

// maxFiles returns [math.MaxInt32], because this operating system does not limit the number of open
// files.
func maxFiles() int { return math.MaxInt32 }

// isPrivateDir returns false, because this operating system has no per-user runtime directories.
func isPrivateDir(string) bool { return false }

// hasModes is false, because file modes have no meaning on this operating system. Instead, the
// permissions of the user's home directory protect files.
const hasModes = false

func ownedByRoot(os.FileInfo) bool { return false }
