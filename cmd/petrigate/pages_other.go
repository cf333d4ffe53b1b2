//go:build !linux

package main

// dropProgramPages is for systems that tell which pages are mapped.
func dropProgramPages() uint64 { return 0 }
