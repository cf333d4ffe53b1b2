package pipeline

import (
	"context"
	"errors"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// A callState says where a call stands: who waits for its answer, and whether it is in
// flight, cancelled or over. The zero value is a call that was not sent yet.
type callState struct {
	mu        sync.Mutex
	completed chan *completion // for the goroutine of the client, where one waits
	stopped   error            // why it is not wanted any more
	stop      context.CancelCauseFunc
	inflight  *inflightCall
	ended     bool // it has its answer, or will get none
}

// waitHere notes that the caller's goroutine waits for the completions of the call.
func (s *callState) waitHere() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completed = make(chan *completion, 2)
}

// waitsHere reports whether a goroutine of the client waits for the call.
func (s *callState) waitsHere() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.completed != nil
}

// hand gives a completion to the goroutine of the client; false: none waits.
func (s *callState) hand(done completion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.completed == nil {
		return false
	}
	s.completed <- &done // has room: one round of a call is under way at a time
	return true
}

// completions returns the channel of the next completion; nil: there will be none.
func (s *callState) completions() <-chan *completion {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inflight == nil && len(s.completed) == 0 {
		return nil
	}
	return s.completed
}

// goesOnAfter reports whether another round of the call is under way after done.
func (s *callState) goesOnAfter(done completion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && s.inflight != nil && s.inflight != done.inflight
}

// detach ends the wait of the client's goroutine.
func (s *callState) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.completed != nil {
		close(s.completed)
		s.completed = nil
	}
}

// setInflight notes that f is the call in flight, unless the call is cancelled: then stopped
// is why. It reports whether the client's goroutine sends the request and reads the reply
// itself, which it does where it waits and reads allows it.
func (s *callState) setInflight(f *inflightCall, reads bool) (inline bool, stopped error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inline = s.completed != nil && reads
	f.inline = inline // before others can see f
	if s.stopped == nil {
		s.inflight = f
	}
	return inline, s.stopped
}

// replaceInflight notes that f, which was sent for an earlier round, is now the call in
// flight of this one. It returns why the call was cancelled, if it was.
func (s *callState) replaceInflight(f *inflightCall) (stopped error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inflight = f
	return s.stopped
}

// clearInflight notes that nothing of the call is in flight.
func (s *callState) clearInflight() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inflight = nil
}

// cancelled notes why nobody waits for the call any more, and returns what is to be ended.
func (s *callState) cancelled(reason error) (context.CancelCauseFunc, *inflightCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped == nil {
		s.stopped = reason
	}
	return s.stop, s.inflight
}

// stopBy has stop called when the call is cancelled, or calls it now if the call is.
func (s *callState) stopBy(stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
	if s.stopped != nil {
		stop(s.stopped)
	}
}

// over notes that the call is over for its client. It reports false where it was over
// before.
func (s *callState) over() (first bool, stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, s.ended = !s.ended, true
	return first, s.stop
}

// wanted reports whether somebody still waits for the answer.
func (s *callState) wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped == nil || errors.Is(s.stopped, spec.ErrClosing)
}
