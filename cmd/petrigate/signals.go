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
	taken atomic.Bool
	came  chan struct{}
}

// An endedBy is the cause of an end by a signal.
type endedBy struct{ os.Signal }

// Error says which it was.
func (e endedBy) Error() string { return e.String() + " signal received" }

// Is makes it the end of a context.
func (endedBy) Is(err error) bool { return err == context.Canceled } //nolint:errorlint // it asks for this very one

// endBySignal calls end for the first signal that is to end the program. A second one ends it
// at once, as end may already tell people.
func endBySignal(end context.CancelCauseFunc) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals)
		end(endedBy{s})
	}()
}

// newHangUps calls end for a signal, unless somebody has taken them.
func newHangUps(end context.CancelCauseFunc) *hangUps {
	h := &hangUps{came: make(chan struct{}, 1)}
	if signal.Ignored(syscall.SIGHUP) { // as under nohup
		return h
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for range signals {
			if !h.taken.Load() {
				signal.Stop(signals) // a second one ends the program at once
				end(endedBy{syscall.SIGHUP})
				return
			}
			select {
			case h.came <- struct{}{}:
			default: // one is waiting already
			}
		}
	}()
	return h
}

// take returns the signals that come from now on, which do not end the program any more.
func (h *hangUps) take() <-chan struct{} {
	if h == nil {
		return nil
	}
	h.taken.Store(true)
	return h.came
}
