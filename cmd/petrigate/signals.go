package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// hangUps are the signals by which a terminal says that it is gone, and by which people ask
// a daemon to read its configuration again.
type hangUps struct {
	claimed  atomic.Bool
	received chan struct{}
}

// An signalError is the cause of an end by a signal.
type signalError struct{ os.Signal }

// Error says which it was.
func (e signalError) Error() string { return e.String() + " signal received" }

// Is makes it the end of a context.
func (signalError) Is(err error) bool { return err == context.Canceled } //nolint:errorlint // it asks for this very one

// endBySignal calls end for the first signal that is to end the program. A second one ends it
// at once, as end may already tell people.
func endBySignal(end context.CancelCauseFunc) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals)
		end(signalError{s})
	}()
}

// newHangUps calls end for a signal, unless somebody has taken them.
func newHangUps(end context.CancelCauseFunc) *hangUps {
	h := &hangUps{received: make(chan struct{}, 1)}
	if signal.Ignored(syscall.SIGHUP) { // as under nohup
		return h
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for range signals {
			if !h.claimed.Load() {
				signal.Stop(signals) // a second one ends the program at once
				end(signalError{syscall.SIGHUP})
				return
			}
			select {
			case h.received <- struct{}{}:
			default: // one is waiting already
			}
		}
	}()
	return h
}

// claim returns the signals that come from now on, which do not end the program any more.
func (h *hangUps) claim() <-chan struct{} {
	if h == nil {
		return nil
	}
	h.claimed.Store(true)
	return h.received
}
