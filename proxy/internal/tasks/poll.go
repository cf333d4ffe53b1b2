package tasks

import (
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// poll sends tasks/get requests until the outcome of the task is known. It pauses while the client
// itself sends enough such requests.
func (s *Tasks) poll(x *Task) {
	for misses := 0; ; {
		if !s.untilPoll(x, misses) {
			return
		}
		about, err := s.get(x)
		switch {
		case err == nil:
			misses = 0
			s.Reached(s.Life.Ctx, x, about)
		case errors.Is(err, errTaskGone):
			s.end(x, gate.Unknown, nil, "task lost")
		case misses >= MaxMisses:
			s.end(x, gate.Unknown, nil, fmt.Sprintf("task lost: %v", err))
		default:
			misses++
			x.countMissed(s.Now())
		}
	}
}

// untilPoll waits until the next tasks/get request is due. It returns false if the task or the
// proxy ends before that.
func (s *Tasks) untilPoll(x *Task, misses int) bool {
	for {
		wait := x.NextPoll(misses, s.Now())
		if wait <= 0 {
			return !x.Finished()
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-x.Over:
			timer.Stop()
			return false
		case <-s.Life.Ctx.Done():
			timer.Stop()
			return false
		}
	}
}
