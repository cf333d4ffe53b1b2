package tasks

import (
	"context"
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
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

// emulatedDetail returns a task of revision 2025-11-25 in the form of revision 2026-07-28. It adds
// the task's result, its error, or the server's inputRequests.
func (s *Tasks) emulatedDetail(ctx context.Context, x *Task) ([]byte, error) {
	about, err := s.get(x)
	if err != nil {
		if errors.Is(err, errTaskGone) {
			s.end(x, gate.Unknown, nil, "task lost")
		}
		return nil, err
	}
	object := x.shown()
	members := rawjson.Object{}.String("resultType", "complete")
	switch about.Status {
	case wire.TaskCompleted, wire.TaskFailed:
		if members, err = s.withEnd(ctx, x, members); err != nil {
			return nil, err
		}
	case wire.TaskInputRequired:
		if asked := s.inputRequests(x); asked != nil {
			members = members.Raw("inputRequests", asked)
		} else { // the proxy has not received the server's request yet, or the client has already answered it
			members = members.String("status", "working")
		}
	case wire.TaskCancelled:
		s.Reached(ctx, x, about)
	}
	return wire.ExtensionTask(object, members), nil
}

// withEnd adds the members that describe the end of a task in revision 2026-07-28. In that
// revision, the status is "completed" even if the result has isError set.
func (s *Tasks) withEnd(ctx context.Context, x *Task, members rawjson.Object) (rawjson.Object, error) {
	reply, err := s.Request(ctx, x, "tasks/result")
	switch {
	case err != nil:
		return nil, err
	case reply.Error != nil:
		s.end(x, gate.Failure, nil, "task failed")
		return members.String("status", "failed").Raw("error", reply.Error), nil
	}
	s.end(x, resultOutcome(x, reply.Result), reply.Result, "task completed")
	return members.String("status", "completed").Raw("result", wire.RelateTask(reply.Result, x.id)), nil
}

// changed is called after the status of a task has changed. It sends notifications/tasks to the
// task's subscribers.
func (s *Tasks) changed(x *Task) {
	if len(s.subscribersOf(x)) == 0 {
		return
	}
	s.Life.Background(func() {
		detail, err := s.Detail(s.Life.Ctx, x)
		if err != nil {
			s.Life.Log.Debug("announcing a task", "upstream", x.Upstream.Config.Name, "call", x.Ticket.Number, "error", err)
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

// awaitResult sends tasks/result on the client's behalf. The stream of the response also carries
// the server's requests about the task.
func (s *Tasks) awaitResult(x *Task) {
	sent := x.Upstream.Send(upstream.Request{
		Method: "tasks/result", Params: append(rawjson.AppendString([]byte(`{"taskId":`), x.theirs), '}'),
		Ask: func(q *upstream.ServerRequest) {
			if !s.ServerRequest(x.Upstream, q) && session.CheckCapability(x.origin.Peer, q) {
				x.addInput(q)
			}
		},
		Notify: func(method string, params []byte) { s.Notification(x.Upstream, method, params) },
	})
	select {
	case reply := <-sent.Done():
		if reply.Result != nil {
			s.fetched(x, reply.Result)
		}
	case <-x.Over:
		sent.Cancel("the task has ended")
	case <-s.Life.Ctx.Done():
	}
}

// emulate serves tasks/get, tasks/update and tasks/cancel of revision 2026-07-28 for a task of
// revision 2025-11-25.
func (s *Tasks) emulate(ctx context.Context, x *Task, m wire.Message) (result []byte, err error) {
	switch m.Method {
	case "tasks/update":
		responses, _ := rawjson.Member(m.Params, "inputResponses")
		x.update(responses)
		result = []byte(`{"resultType":"complete"}`)
	case "tasks/cancel":
		result, err = s.emulatedCancel(ctx, x)
	default:
		result, err = s.emulatedDetail(ctx, x)
	}
	switch {
	case errors.Is(err, errTaskGone):
		err = wire.NewFault(wire.CodeInvalidParams, spec.NoTask)
	case err != nil && !errors.As(err, new(upstream.Refused)):
		err = fmt.Errorf("upstream %s: %v", x.Upstream.Config.Name, err)
	}
	return result, err
}

func (s *Tasks) emulatedCancel(ctx context.Context, x *Task) ([]byte, error) {
	reply, err := s.Request(ctx, x, "tasks/cancel")
	switch {
	case err != nil:
		return nil, err
	case reply.Error != nil:
		return nil, upstream.Refused(reply.Error)
	}
	if about, err := s.read(x, reply.Result); err == nil {
		s.Reached(ctx, x, about)
	}
	return []byte(`{"resultType":"complete"}`), nil
}
