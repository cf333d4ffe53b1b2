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

// extensionTask converts a CreateTaskResult of 2025-11-25 to the form of 2026-07-28.
func extensionTask(result, task []byte) []byte {
	members := []byte(`"resultType":"task"`)
	if meta, ok := rawjson.Member(result, "_meta"); ok {
		members = append(append(members, `,"_meta":`...), meta...)
	}
	return wire.ExtensionTask(task, members)
}

// awaitResult sends tasks/result in the client's place, so that the server can send its requests on
// that stream.
func (s *Tasks) awaitResult(x *Task) {
	sent := x.Upstream.Send(upstream.Request{
		Method: "tasks/result", Params: append(rawjson.AppendString([]byte(`{"taskId":`), x.theirs), '}'),
		Ask: func(q *upstream.ServerRequest) {
			if !s.ServerRequest(x.Upstream, q) && session.MayAsk(x.origin.Peer, q) {
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
		sent.Cancel("the task is over")
	case <-s.Life.Ctx.Done():
	}
}

// emulate serves tasks/get, tasks/update and tasks/cancel of 2026-07-28 for a task of 2025-11-25.
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
	var refused upstream.Refused
	switch {
	case errors.Is(err, errTaskGone):
		err = wire.NewFault(spec.CodeInvalidParams, spec.NoTask)
	case err != nil && !errors.As(err, &refused):
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

// emulatedDetail returns the task with the members that 2026-07-28 adds: its result or error, or
// the server's inputRequests.
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
		if asked == nil { // the server has not asked yet, or has been answered already
			members = append(members, `,"status":"working"`...)
			break
		}
		members = append(append(members, ','), asked...)
	case wire.TaskCancelled:
		s.Reached(ctx, x, about)
	}
	return wire.ExtensionTask(object, members), nil
}

// emulatedEnd returns the end of the task as members of a task of 2026-07-28. There a result with
// isError completes the task too.
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
