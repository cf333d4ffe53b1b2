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

// errHungUp is the cause of an end by a hang-up.
type errHungUp struct{}

// Error says it as other signals do.
func (errHungUp) Error() string { return "hangup signal received" }

// Is makes it the end of a context, as other signals are.
func (errHungUp) Is(err error) bool { return err == context.Canceled } //nolint:errorlint // it asks for this very one

// newHangUps calls end for a signal, unless somebody has taken them.
func newHangUps(end func()) *hangUps {
	h := &hangUps{came: make(chan struct{}, 1)}
	if signal.Ignored(syscall.SIGHUP) { // as under nohup
		return h
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for range signals {
			if !h.taken.Load() {
				end()
				signal.Stop(signals) // a second one ends the program at once
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
