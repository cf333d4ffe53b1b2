package tasks

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Serve serves clients' tasks/get, tasks/result, tasks/cancel and tasks/update requests.
func (s *Tasks) Serve(ctx context.Context, q session.Request) ([]byte, error) {
	a, method := q.Peer(), q.Message.Method
	if err := s.refuse(a, method); err != nil {
		return nil, err
	}
	x := s.find(q.Client.Session, spec.Member(q.Message.Params, "taskId"))
	switch {
	case x == nil || x.rev.TaskExtension && !a.Rev.TaskExtension:
		return nil, wire.NewFault(spec.CodeInvalidParams, spec.NoTask)
	case a.Rev.TaskExtension && !x.rev.TaskExtension:
		return s.emulate(ctx, x, q.Message)
	}
	if x.Upstream.Rev() != x.rev {
		return nil, wire.NewFault(spec.CodeInvalidParams, spec.NoTask)
	}
	r := s.newRequest(ctx, pool.NewRelayedRequest(q, x.Upstream), x)
	if method == "tasks/result" {
		here := session.OutboxStream{Outbox: r.Outbox}
		s.join(x, here)
		defer x.Leave(here)
	}
	return r.Serve(ctx)
}

// newRequest prepares r as a request about the task x. The gate does not decide this request,
// because it has already admitted the call. The gate learns how the task ended before the client
// does.
func (s *Tasks) newRequest(ctx context.Context, r *pool.RelayedRequest, x *Task) *pool.RelayedRequest {
	r.Name, r.Patient = x.theirs, r.Message.Method == "tasks/result"
	r.Change = func(params []byte) []byte { return wire.RenameTask(params, x.theirs) }
	r.Amend = func(result []byte) []byte { return s.succeeded(ctx, x, r.Message.Method, result) }
	r.Refused = func() { s.failed(ctx, x, r.Message.Method) }
	r.OnNotification = func(method string, params []byte) {
		if !s.Notification(x.Upstream, method, params) {
			r.Notify(method, params)
		}
	}
	r.OnRequest = func(q *upstream.ServerRequest) {
		if !s.ServerRequest(x.Upstream, q) && r.CheckCapability(q) {
			s.Ask(r.Client, session.OutboxStream{Outbox: r.Outbox}, x.Upstream, q)
		}
	}
	return r
}

// refuse returns an error if the method does not exist in the client's revision.
func (s *Tasks) refuse(a session.Peer, method string) error {
	var keys []string
	if !a.Rev.TaskExtension && (method == "tasks/list" || method == "tasks/cancel") {
		keys = []string{"tasks", method[len("tasks/"):]}
	}
	switch {
	case a.Rev.Lacks(method) || !s.offered(a.Rev, keys...):
		return wire.NewFault(spec.CodeNoMethod, "Method not found: no upstream has "+method+" for clients of this revision")
	case a.Rev.TaskExtension && !a.TakesTasks():
		return spec.LacksTasks()
	}
	return nil
}

// succeeded updates the task according to a result, and returns the result for the client.
func (s *Tasks) succeeded(ctx context.Context, x *Task, method string, result []byte) []byte {
	if method == "tasks/result" { // here, taskId would be a member of the tool's own result
		s.fetched(x, result)
		return wire.RelateTask(result, x.id)
	}
	// Since revision 2026-07-28, the result of tasks/cancel does not contain the task.
	if _, shown := rawjson.Member(result, "taskId"); shown && method != "tasks/update" {
		if about, err := s.read(x, result); err != nil {
			s.Log.Warn("cannot read a task", "upstream", x.Upstream.Config.Name, "call", x.Ticket.Number, "error", err)
		} else {
			s.Reached(ctx, x, about)
		}
	}
	return wire.RelateTask(wire.RenameTask(result, x.id), x.id)
}

// failed determines why the server has refused a request about the task: either the server no
// longer knows the task, or the task has ended with this error.
func (s *Tasks) failed(ctx context.Context, x *Task, method string) {
	if method != "tasks/result" && method != "tasks/get" {
		return
	}
	about, err := s.get(x)
	switch {
	case errors.Is(err, errTaskGone):
		s.end(x, gate.Unknown, nil, "task lost")
	case err != nil: // the goroutine that polls will ask again
	case about.Status == wire.TaskCompleted && method == "tasks/result":
		s.end(x, gate.Failure, nil, "task result")
	default:
		s.Reached(ctx, x, about)
	}
}
