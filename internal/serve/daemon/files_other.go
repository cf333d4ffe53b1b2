//go:build !unix

package daemon

import (
	"math"
	"os"
)

// maxFiles is for systems that bound the files of a process.
func maxFiles() int { return math.MaxInt32 }

// isOwn is for systems that have no runtime directory of a user.
func isPrivateDir(string) bool { return false }

// modes is false: here the folder of the user protects a file, whose mode is made up.
const hasModes = false

func ownedByRoot(os.FileInfo) bool { return false }
