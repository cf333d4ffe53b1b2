package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Reached reports the task's outcome to the gate if its status is final. The outcome of a completed
// task depends on its result.
func (s *Tasks) Reached(ctx context.Context, x *Task, about wire.Task) {
	switch about.Status {
	case wire.TaskFailed:
		s.end(x, gate.Failure, nil, "task failed")
	case wire.TaskCancelled: // the canceled work may still be running, or may have been completed before the cancellation
		s.end(x, gate.Unknown, nil, "task cancelled")
	case wire.TaskCompleted:
		if x.IsSettled() {
			return
		}
		o, result, err := s.outcome(ctx, x, about)
		if err != nil {
			s.Life.Log.Warn("fetching the result of a task", "upstream", x.Upstream.Config.Name, "call", x.Ticket.Number, "error", err)
		}
		if err == nil || errors.Is(err, errTaskGone) {
			s.end(x, o, result, "task completed")
		}
	}
}

// outcome returns the outcome and the result of a completed task. For a task of revision
// 2025-11-25, it fetches the result with tasks/result.
func (s *Tasks) outcome(ctx context.Context, x *Task, about wire.Task) (gate.Outcome, []byte, error) {
	if x.rev.TaskExtension {
		return resultOutcome(x, about.Outcome), about.Outcome, nil
	}
	reply, err := s.Request(ctx, x, "tasks/result")
	switch {
	case err != nil:
		return gate.Unknown, nil, err
	case reply.Error != nil && unknownTask(reply.Error):
		return gate.Unknown, nil, errTaskGone
	case reply.Error != nil:
		return gate.Failure, nil, nil
	}
	return resultOutcome(x, reply.Result), reply.Result, nil
}

// fetched reports the outcome of a task whose result has been fetched with tasks/result. It first
// asks for the status, because some servers return a result even for a canceled task.
func (s *Tasks) fetched(x *Task, result []byte) {
	about, err := s.get(x)
	switch {
	case err == nil && about.Status == wire.TaskCancelled:
		s.Reached(s.Life.Ctx, x, about)
	case err != nil && !errors.Is(err, errTaskGone): // the goroutine that polls the task will ask again
		s.Life.Log.Warn("cannot find out how a task ended", "upstream", x.Upstream.Config.Name, "call", x.Ticket.Number, "error", err)
	default:
		s.end(x, resultOutcome(x, result), result, "task result")
	}
}

// resultOutcome returns the outcome of a task with the given result. If the outcome can affect a
// net, a result that JSON parsers could interpret differently counts as a failure.
func resultOutcome(x *Task, result []byte) gate.Outcome {
	if !wire.ResultFacts(result).Success() || x.Ticket.Awaited && rawjson.Check(result, rawjson.MaxDepth) != nil {
		return gate.Failure
	}
	return gate.Success
}

// end reports the outcome of a task to the gate. If an outcome has already been reported, end does
// nothing, except that it replaces an unknown outcome with a known one. result is the task's result
// if the task succeeded. When end returns, the outcome has been reported, possibly by another
// goroutine.
func (s *Tasks) end(x *Task, o gate.Outcome, result []byte, by string) {
	defer x.lockSettling()()
	if !x.mustReport(o) {
		return
	}
	s.Settle(x.origin, x.Ticket, o, result, by)
	open, first := x.end(o)
	for _, q := range open {
		q.Refuse(wire.CodeInternal, "the task has ended")
	}
	if first {
		close(x.Over)
	}
	s.dropOrphan(x)
}

// poll sends tasks/get requests until the task is finished. It sends none while the client's own
// requests are frequent enough.
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
			x.countMissed(s.Life.Now())
		}
	}
}

// untilPoll waits until the next tasks/get request is due. If the task or the proxy ends first, it
// returns false.
func (s *Tasks) untilPoll(x *Task, misses int) bool {
	for {
		wait := x.NextPoll(misses, s.Life.Now())
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
