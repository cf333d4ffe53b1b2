//go:build !unix

package daemon

import "math"

// maxFiles is for systems that bound the files of a process.
func maxFiles() int { return math.MaxInt32 }

// isOwn is for systems that have no runtime directory of a user.
func isOwn(string) bool { return false }
