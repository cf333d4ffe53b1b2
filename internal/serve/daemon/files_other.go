//go:build !unix

package daemon

import (
	"math"
	"os"
)

// maxFiles returns the largest value, because this operating system does not limit the open files
// of a process.
func maxFiles() int { return math.MaxInt32 }

// isPrivateDir returns false, because this operating system has no runtime directory per user.
func isPrivateDir(string) bool { return false }

// hasModes is false, because on this operating system file modes mean nothing; the permissions of
// the user's directory protect a file.
const hasModes = false

func ownedByRoot(os.FileInfo) bool { return false }
