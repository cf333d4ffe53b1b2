package tasks

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Detail returns the task in the form of a tasks/get result of revision 2026-07-28.
func (s *Tasks) Detail(ctx context.Context, x *Task) ([]byte, error) {
	if !x.rev.TaskExtension {
		return s.emulatedDetail(ctx, x)
	}
	reply, err := s.Request(ctx, x, "tasks/get")
	switch {
	case err != nil:
		return nil, err
	case reply.Error != nil:
		return nil, upstream.Refused(reply.Error)
	}
	about, err := s.read(x, reply.Result)
	if err != nil {
		return nil, err
	}
	s.Reached(ctx, x, about)
	return wire.RelateTask(wire.RenameTask(reply.Result, x.id), x.id), nil
}

// emulatedDetail returns the task with the additional members of revision 2026-07-28: its result,
// its error, or the inputRequests of the server.
func (s *Tasks) emulatedDetail(ctx context.Context, x *Task) ([]byte, error) {
	about, err := s.get(x)
	if err != nil {
		if errors.Is(err, errTaskGone) {
			s.end(x, gate.Unknown, nil, "task lost")
		}
		return nil, err
	}
	object := x.shown()
	members := []byte(`"resultType":"complete"`)
	switch about.Status {
	case wire.TaskCompleted, wire.TaskFailed:
		end, err := s.emulatedEnd(ctx, x)
		if err != nil {
			return nil, err
		}
		members = append(append(members, ','), end...)
	case wire.TaskInputRequired:
		asked := s.inputRequests(x)
		if asked == nil { // the server has not asked yet, or has already received an answer
			members = append(members, `,"status":"working"`...)
			break
		}
		members = append(append(members, ','), asked...)
	case wire.TaskCancelled:
		s.Reached(ctx, x, about)
	}
	return wire.ExtensionTask(object, members), nil
}

// emulatedEnd returns the members that describe how the task ended in revision 2026-07-28. In that
// revision, a result with isError also completes the task.
func (s *Tasks) emulatedEnd(ctx context.Context, x *Task) ([]byte, error) {
	reply, err := s.Request(ctx, x, "tasks/result")
	switch {
	case err != nil:
		return nil, err
	case reply.Error != nil:
		s.end(x, gate.Failure, nil, "task failed")
		return append([]byte(`"status":"failed","error":`), reply.Error...), nil
	}
	s.end(x, resultOutcome(x, reply.Result), reply.Result, "task completed")
	return append([]byte(`"status":"completed","result":`), wire.RelateTask(reply.Result, x.id)...), nil
}

// changed sends notifications/tasks to the subscribers of a task after its status has changed.
func (s *Tasks) changed(x *Task) {
	if len(s.subscribersOf(x)) == 0 {
		return
	}
	s.Life.Background(func() {
		detail, err := s.Detail(s.Life.Ctx, x)
		if err != nil {
			s.Log.Debug("announcing a task", "upstream", x.Upstream.Config.Name, "call", x.Ticket.Number, "error", err)
			return
		}
		params := wire.AppendWithout(nil, detail, "resultType")
		for _, sub := range s.subscribersOf(x) {
			sub.Outbox.Add(wire.AppendNotification(nil, "notifications/tasks", wire.WithSubscription(params, sub.ID)))
		}
	})
}

// subscribersOf returns the subscriptions that include the task.
func (s *Tasks) subscribersOf(x *Task) (list []*session.Subscription) {
	for _, c := range s.Sessions.Clients() {
		if c.Session == x.owner() {
			list = append(list, c.Subscriptions.OfTask(x.id)...)
		}
	}
	return list
}
