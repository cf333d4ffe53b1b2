package main

import "fmt"

// Exit codes.
const (
	exitOK       = 0
	exitFailed   = 1 // runtime error
	exitUsage    = 2
	exitInvalid  = 3 // invalid configuration, rules or net
	exitDiffers  = 4 // a policy test failed, diff found what --fail-on names, or a log was changed
	exitUpstream = 7
)

// An exitError is an error with an exit code for the program.
type exitError struct {
	code int
	err  error // nil: the problem was printed already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}
