//go:build !unix

package main

import "math"

// maxFiles is for systems that bound the files of a process.
func maxFiles() int { return math.MaxInt32 }
