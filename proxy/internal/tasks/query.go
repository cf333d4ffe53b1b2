package tasks

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// errTaskGone means that the server does not know the task.
var errTaskGone = errors.New("the upstream no longer knows the task")

// Request sends a request about the task for the proxy itself, and waits for the reply. The
// argument members contains additional params, each preceded by a comma.
func (s *Tasks) Request(ctx context.Context, x *Task, method string, members ...byte) (upstream.Reply, error) {
	u := x.Upstream
	if u.State().Phase == upstream.Up && u.Rev() != x.rev {
		return upstream.Reply{}, errTaskGone // the server has restarted and now uses the other revision family
	}
	params := append(append(rawjson.AppendString([]byte(`{"taskId":`), x.theirs), members...), '}')
	request := upstream.Request{Method: method, Name: x.theirs, Params: params}
	if x.rev.PerRequest {
		meta := append(append([]byte{'{'}, u.RequestMeta(spec.TakesTasks())...), '}')
		request.Params = wire.SetMember(params, "_meta", meta)
	}
	ctx, cancel := context.WithTimeout(ctx, u.Config.Timeout)
	defer cancel()
	return u.Call(ctx, request)
}

// unknownTask reports whether the error code indicates that the server might not know the task.
func unknownTask(failure []byte) bool {
	code, _ := rawjson.Member(failure, "code")
	switch string(code) {
	case "-32600", "-32601", "-32602", "-32001", "-32002":
		return true
	}
	return false
}

// Cancel sends tasks/cancel in the background.
func (s *Tasks) Cancel(x *Task) {
	s.Life.Background(func() { _, _ = s.Request(s.Life.Ctx, x, "tasks/cancel") })
}
