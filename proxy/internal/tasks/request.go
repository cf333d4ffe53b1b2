package tasks

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A taskRequest is a request of a client for one of its tasks: tasks/get, tasks/result,
// tasks/cancel or tasks/update. No gate decides on it, because the call has passed the
// gate.
type taskRequest struct {
	*pool.RelayedRequest
	tasks *Tasks
	task  *Task
}

// Serve serves tasks/get, tasks/result, tasks/cancel and tasks/update.
func (s *Tasks) Serve(ctx context.Context, c *session.Client, m wire.Message, meta wire.Meta, to spec.Stream) {
	a := c.PeerOf(meta)
	if code, text := s.refuse(a, m.Method); code != 0 {
		var data []byte
		if code == spec.CodeMissingCapability {
			data = spec.MissingTasks()
		}
		to.Reply(wire.AppendError(nil, m.ID, code, text, data))
		return
	}
	x := s.find(c.Session, spec.Member(m.Params, "taskId"))
	switch {
	case x == nil || x.rev.TaskExtension && !a.Rev.TaskExtension:
		to.Reply(wire.AppendError(nil, m.ID, spec.CodeInvalidParams, spec.NoTask, nil))
		return
	case a.Rev.TaskExtension && !x.rev.TaskExtension:
		s.emulate(ctx, x, m, to)
		return
	}
	r := s.newRequest(pool.NewRelayedRequest(c, m, meta, to, x.Upstream), x)
	if m.Method == "tasks/result" {
		here := session.OutboxStream{Outbox: r.Outbox}
		s.join(x, here)
		defer x.Leave(here)
	}
	r.serve(ctx)
}

func (s *Tasks) newRequest(r *pool.RelayedRequest, x *Task) *taskRequest {
	r.Name, r.Patient = x.theirs, r.Message.Method == "tasks/result"
	r.Change = func(params []byte) []byte { return wire.RenameTask(params, x.theirs) }
	r.OnNotification = func(method string, params []byte) {
		if !s.Notification(x.Upstream, method, params) {
			r.Notify(method, params)
		}
	}
	r.OnRequest = func(q *upstream.ServerRequest) {
		if !s.ServerRequest(x.Upstream, q) && r.MayAsk(q) {
			s.Ask(r.Client, session.OutboxStream{Outbox: r.Outbox}, x.Upstream, q)
		}
	}
	return &taskRequest{RelayedRequest: r, tasks: s, task: x}
}

// refuse returns why clients of the peer's revision cannot send a method; 0: they
// can.
func (s *Tasks) refuse(a session.Peer, method string) (code int, text string) {
	offered := false
	switch {
	case a.Rev.TaskExtension:
		offered = !a.Rev.Lacks(method) && len(s.makers(rev.Rev2026))+len(s.makers(rev.Rev2025)) > 0
	case method == "tasks/list" || method == "tasks/cancel":
		offered = s.can(method[len("tasks/"):])
	default:
		offered = !a.Rev.Lacks(method) && len(s.makers(rev.Rev2025)) > 0
	}
	switch {
	case !offered:
		return spec.CodeNoMethod, "Method not found: no upstream has " + method + " for clients of this revision"
	case a.Rev.TaskExtension && !a.TakesTasks():
		return spec.CodeMissingCapability, "Missing required client capability"
	}
	return 0, ""
}

// serve sends the request to the server and the response to the client. The gate knows of
// the end of the task before the client does.
func (r *taskRequest) serve(ctx context.Context) {
	id, x := r.Message.ID, r.task
	if r.Upstream.Rev() != x.rev {
		r.Stream.Reply(wire.AppendError(nil, id, spec.CodeInvalidParams, spec.NoTask, nil))
		return
	}
	reply, err := r.Exchange(ctx)
	switch {
	case ctx.Err() != nil: // nobody waits for an answer
	case err != nil:
		r.Stream.Reply(wire.AppendError(nil, id, spec.CodeInternal, err.Error(), nil))
	case reply.Error != nil:
		r.failed(ctx)
		r.Stream.Reply(wire.ErrorHead(id), reply.Error, wire.Tail)
	default:
		r.Stream.Reply(wire.ResultHead(id), r.succeeded(ctx, reply.Result), wire.Tail)
	}
}

// succeeded updates the task from a result, and returns the result for the client.
func (r *taskRequest) succeeded(ctx context.Context, result []byte) []byte {
	x := r.task
	switch r.Message.Method {
	case "tasks/result":
		r.tasks.fetched(x, result)
	case "tasks/get", "tasks/cancel":
		r.shown(ctx, result)
	}
	if r.Message.Method != "tasks/result" { // a member of that name is the tool's own there
		result = wire.RenameTask(result, x.id)
	}
	result = wire.RelateTask(result, x.id)
	return r.Peer.Rev.Result(result, r.Message.Method)
}

// shown updates the task from a result that shows it. The result of tasks/cancel shows
// none since 2026-07-28.
func (r *taskRequest) shown(ctx context.Context, result []byte) {
	x, s := r.task, r.tasks
	if _, is := rawjson.Member(result, "taskId"); !is {
		return
	}
	about, err := s.read(x, result)
	if err != nil {
		s.Log.Warn("a task cannot be read", "upstream", r.Upstream.Config.Name, "call", x.Ticket.Number, "error", err)
		return
	}
	s.Reached(ctx, x, about)
}

// failed finds out why the server refused a request for the task: the task is gone, or has
// ended with this error.
func (r *taskRequest) failed(ctx context.Context) {
	if r.Message.Method != "tasks/result" && r.Message.Method != "tasks/get" {
		return
	}
	s, x := r.tasks, r.task
	about, err := s.get(x)
	switch {
	case errors.Is(err, errTaskGone):
		s.end(x, gate.Unknown, "task lost")
	case err != nil: // it is asked for again
	case about.Status == wire.TaskCompleted && r.Message.Method == "tasks/result":
		s.end(x, gate.Failure, "task result")
	default:
		s.Reached(ctx, x, about)
	}
}
