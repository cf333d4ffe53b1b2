package pipeline

import (
	"context"
	"errors"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// A callState is the state of a call: which goroutine waits for its answer, and whether it is in
// flight, cancelled or answered. The zero value is a call that is not sent yet. mu guards the
// fields.
type callState struct {
	mu        sync.Mutex
	completed chan *completion // completions for the goroutine that waits for the call; nil: no goroutine waits
	stopped   error            // why the client stopped waiting
	stop      context.CancelCauseFunc
	inflight  *inflightCall
	ended     bool // the call is answered, or will get no answer
}

// startWaiting makes the calling goroutine the one that waits for the completions of the call.
func (s *callState) startWaiting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completed = make(chan *completion, 2)
}

// hasWaiter reports whether a goroutine waits for the completions of the call.
func (s *callState) hasWaiter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.completed != nil
}

// sendToWaiter sends a completion to the goroutine that waits for the call. It reports false if no
// goroutine waits.
func (s *callState) sendToWaiter(done completion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.completed == nil {
		return false
	}
	s.completed <- &done // never blocks: only one round of a call runs at a time
	return true
}

// completions returns the channel of the next completion, or nil if no completion will come.
func (s *callState) completions() <-chan *completion {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inflight == nil && len(s.completed) == 0 {
		return nil
	}
	return s.completed
}

// hasRoundAfter reports whether another round of the call is in flight after done.
func (s *callState) hasRoundAfter(done completion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && s.inflight != nil && s.inflight != done.inflight
}

// detach ends the wait of the goroutine that waits for the call. Later completions are handled on
// the goroutine that reads them.
func (s *callState) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.completed != nil {
		close(s.completed)
		s.completed = nil
	}
}

// setInflight makes f the request in flight. If the call was cancelled, it does not, and returns
// the reason as stopped. inline reports whether the goroutine that waits for the call sends the
// request and reads the reply itself; it does if one waits and reads is true.
func (s *callState) setInflight(f *inflightCall, reads bool) (inline bool, stopped error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inline = s.completed != nil && reads
	f.inline = inline // before other goroutines can see f
	if s.stopped == nil {
		s.inflight = f
	}
	return inline, s.stopped
}

// replaceInflight makes f, which was sent in an earlier round, the request in flight of this round.
// It returns why the call was cancelled, or nil.
func (s *callState) replaceInflight(f *inflightCall) (stopped error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inflight = f
	return s.stopped
}

// clearInflight records that the call has no request in flight.
func (s *callState) clearInflight() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inflight = nil
}

// cancelled records why the client stopped waiting. It returns the cancel function of the call's
// context and the request in flight; both can be nil.
func (s *callState) cancelled(reason error) (context.CancelCauseFunc, *inflightCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.stopped = reason
	}
	return s.stop, s.inflight
}

// setStop sets the function that a cancellation calls, and calls it at once if the call is cancelled
// already.
func (s *callState) setStop(stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
	if s.stopped != nil {
		stop(s.stopped)
	}
}

// markAnswered marks the call as answered. It reports false if it was answered before.
func (s *callState) markAnswered() (first bool, stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, s.ended = !s.ended, true
	return first, s.stop
}

// wanted reports whether the client still waits for the answer.
func (s *callState) wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped == nil || errors.Is(s.stopped, spec.ErrClosing)
}
