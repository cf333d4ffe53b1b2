//go:build !linux

package main

import (
	"errors"
	"os"
)

// errSystem is returned on systems other than Linux, because the harness reads /proc.
var errSystem = errors.New("the benchmark runs on Linux only")

func flush(*os.File) error { return errSystem }

func flushAll() {}

func fileSystem(string) (string, error) { return "", errSystem }
