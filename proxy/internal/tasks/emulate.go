package tasks

import (
	"context"
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// awaitResult sends tasks/result on behalf of the client, so that the server has a stream for its
// requests.
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

// emulate serves the methods tasks/get, tasks/update and tasks/cancel of revision 2026-07-28 for a
// task of revision 2025-11-25.
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
