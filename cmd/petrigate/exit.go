package main

import "fmt"

// Exit codes of the program.
const (
	exitOK       = 0
	exitFailed   = 1 // runtime error
	exitUsage    = 2
	exitInvalid  = 3 // invalid configuration, rules or net
	exitDiffers  = 4 // a policy test failed, diff found a difference that --fail-on forbids, or an audit log was tampered with
	exitUpstream = 7
)

// An exitError is an error that determines the program's exit code.
type exitError struct {
	code int
	err  error // nil if the error has already been printed
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
