//go:build !unix

package daemon

import (
	"math"
	"os"
)

// maxFiles returns no limit: this system does not limit the files of a process.
func maxFiles() int { return math.MaxInt32 }

// isPrivateDir returns false: this system has no runtime directory for a user.
func isPrivateDir(string) bool { return false }

// hasModes is false: the permissions of the user's folder protect a file, and its mode means
// nothing.
const hasModes = false

func ownedByRoot(os.FileInfo) bool { return false }
