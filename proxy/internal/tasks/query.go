package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// errTaskGone means that the server does not know the task.
var errTaskGone = errors.New("the upstream no longer knows the task")

// Request sends a request about the task on behalf of the proxy. It waits for the reply until the
// server's timeout or until ctx is done. The params contain the task's ID and the given JSON
// members, each preceded by a comma. If the server now uses a revision with a different form of
// tasks, Request returns errTaskGone.
func (s *Tasks) Request(ctx context.Context, x *Task, method string, members ...byte) (upstream.Reply, error) {
	u := x.Upstream
	if u.State().Phase == upstream.Up && u.Rev() != x.rev {
		return upstream.Reply{}, errTaskGone // after a restart, the server uses a revision with a different form of tasks
	}
	params := append(append(rawjson.AppendString([]byte(`{"taskId":`), x.theirs), members...), '}')
	request := upstream.Request{Method: method, Name: x.theirs, Params: params}
	if x.rev.PerRequest {
		meta := append(append([]byte{'{'}, u.RequestMeta(spec.TaskCapabilities())...), '}')
		request.Params = wire.SetMember(params, "_meta", meta)
	}
	ctx, cancel := context.WithTimeout(ctx, u.Config.Timeout)
	defer cancel()
	return u.Call(ctx, request)
}

// unknownTask reports whether an error object could mean that the server does not know the task.
func unknownTask(failure []byte) bool {
	code, _ := rawjson.Member(failure, "code")
	return slices.Contains([]string{"-32600", "-32601", "-32602", "-32001", "-32002"}, string(code))
}

// Cancel sends tasks/cancel in the background.
func (s *Tasks) Cancel(x *Task) {
	s.Life.Background(func() { _, _ = s.Request(s.Life.Ctx, x, "tasks/cancel") })
}

// get fetches the task by sending a tasks/get request on behalf of the proxy.
func (s *Tasks) get(x *Task) (wire.Task, error) {
	reply, err := s.Request(s.Life.Ctx, x, "tasks/get")
	switch {
	case err != nil:
		return wire.Task{}, err
	case reply.Error != nil && unknownTask(reply.Error):
		return wire.Task{}, errTaskGone
	case reply.Error != nil:
		return wire.Task{}, errors.New("refused: " + text.Escape(rawjson.StringAt(reply.Error, "message")))
	}
	return s.read(x, reply.Result)
}

// read parses and stores a task object from the server. If the status has changed, it notifies
// subscribers.
func (s *Tasks) read(x *Task, object []byte) (wire.Task, error) {
	about, err := wire.ParseTask(object)
	if err == nil && about.ID != x.theirs {
		err = errors.New("it is another task")
	}
	if err != nil {
		return wire.Task{}, fmt.Errorf("reading a task: %w", err)
	}
	if _, changed := x.set(object, about, s.Life.Now()); changed {
		s.changed(x)
	}
	return about, nil
}
