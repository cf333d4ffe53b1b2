//go:build !unix

package main

import "io"

// pollable is for systems with pollable pipes.
func pollable(r io.Reader) io.Reader { return r }
