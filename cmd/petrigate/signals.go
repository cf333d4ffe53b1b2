package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// hangUps receives SIGHUP, which means either that the terminal is gone or that a daemon must
// reload its configuration.
type hangUps struct {
	claimed  atomic.Bool
	received chan struct{}
}

// A signalError is the cancellation cause of a context that was canceled by a signal.
type signalError struct{ os.Signal }

// Error returns a message that names the signal.
func (e signalError) Error() string { return e.String() + " signal received" }

// Is makes a signalError match [context.Canceled].
func (signalError) Is(err error) bool { return err == context.Canceled } //nolint:errorlint // this method defines what errors.Is reports

// endBySignal calls the function end on the first interrupt or SIGTERM, to start a graceful
// shutdown. A second signal ends the program immediately.
func endBySignal(end context.CancelCauseFunc) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals)
		end(signalError{s})
	}()
}

// newHangUps starts receiving SIGHUP, unless the process ignores this signal. The first SIGHUP
// calls end to start a graceful shutdown, and a second one ends the program immediately. After a
// call to [hangUps.claim], SIGHUP no longer ends the program.
func newHangUps(end context.CancelCauseFunc) *hangUps {
	h := &hangUps{received: make(chan struct{}, 1)}
	if signal.Ignored(syscall.SIGHUP) { // nohup, for example, causes SIGHUP to be ignored
		return h
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		for range signals {
			if !h.claimed.Load() {
				signal.Stop(signals) // a second signal ends the program immediately
				end(signalError{syscall.SIGHUP})
				return
			}
			select {
			case h.received <- struct{}{}:
			default: // a reload is already pending
			}
		}
	}()
	return h
}

// claim returns a channel that receives later SIGHUP signals. From then on, SIGHUP no longer ends
// the program.
func (h *hangUps) claim() <-chan struct{} {
	if h == nil {
		return nil
	}
	h.claimed.Store(true)
	return h.received
}
