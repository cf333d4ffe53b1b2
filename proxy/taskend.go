package proxy

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// reached tells the gate of a status that is the end of the task. Of a completed
// task the result counts, and not that there is one.
func (s *tasks) reached(ctx context.Context, x *task, about wire.Task) {
	switch about.Status {
	case wire.TaskFailed:
		s.end(x, gate.Failure, "task failed")
	case wire.TaskCancelled: // which does not say that it has stopped, nor when
		s.end(x, gate.Unknown, "task cancelled")
	case wire.TaskCompleted:
		if x.isSettled() {
			return
		}
		o, err := s.outcome(ctx, x, about)
		if err != nil {
			s.log.Warn("asking for the result of a task", "upstream", x.upstream.config.Name, "call", x.ticket.Number, "error", err)
		}
		if err == nil || errors.Is(err, errTaskGone) {
			s.end(x, o, "task completed")
		}
	}
}

// outcome returns what the result of a completed task means for the nets. In
// 2025-11-25 it is fetched by tasks/result.
func (s *tasks) outcome(ctx context.Context, x *task, about wire.Task) (gate.Outcome, error) {
	if x.rev.TaskExtension {
		return resultOutcome(x, about.Outcome), nil
	}
	reply, err := s.request(ctx, x, "tasks/result")
	switch {
	case err != nil:
		return gate.Unknown, err
	case reply.Error != nil && unknownTask(reply.Error):
		return gate.Unknown, errTaskGone
	case reply.Error != nil:
		return gate.Failure, nil
	}
	return resultOutcome(x, reply.Result), nil
}

// fetched takes a result of tasks/result. Some servers answer it for a cancelled
// task too, with a result that looks like any other.
func (s *tasks) fetched(x *task, result []byte) {
	about, err := s.get(x)
	switch {
	case err == nil && about.Status == wire.TaskCancelled:
		s.reached(s.life.ctx, x, about)
	case err != nil && !errors.Is(err, errTaskGone): // it is asked for again
		s.log.Warn("asking how a task ended", "upstream", x.upstream.config.Name, "call", x.ticket.Number, "error", err)
	default:
		s.end(x, resultOutcome(x, result), "task result")
	}
}

// resultOutcome returns what the result of a task means for the nets. Like that of
// a call it has to be strict JSON where a net moves by it.
func resultOutcome(x *task, result []byte) gate.Outcome {
	if !wire.Success(result) || x.ticket.Awaited && rawjson.Check(result, rawjson.MaxDepth) != nil {
		return gate.Failure
	}
	return gate.Success
}

// end tells the gate how the task ended, once. What is unknown can still become
// known. It returns when the gate knows, whoever told it.
func (s *tasks) end(x *task, o gate.Outcome, by string) {
	x.settling.Lock()
	defer x.settling.Unlock()
	if !x.ends(o) {
		return
	}
	s.settle(x.origin, x.ticket, o, by)
	open, first := x.end(o)
	for _, q := range open {
		q.Refuse(codeInternal, "the task is over")
	}
	if first {
		close(x.over)
	}
	s.ended(x)
}
