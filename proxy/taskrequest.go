package proxy

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// codeMissingCapability is of revision 2026-07-28.
const codeMissingCapability = -32021

// noTask answers a request for a task that its session does not have. It says
// the same of a task of others.
const noTask = "Failed to retrieve task: Task not found"

// A taskRequest is a request of a client for one of its tasks: tasks/get,
// tasks/result, tasks/cancel or tasks/update. No gate decides on it: that the work
// may be done is decided already.
type taskRequest struct {
	*relayed
	tasks *tasks
	task  *task
}

// serve serves tasks/get, tasks/result, tasks/cancel and tasks/update.
func (s *tasks) serve(ctx context.Context, c *client, m wire.Message, meta wire.Meta, to stream) {
	a := c.speaker(meta)
	if code, text := s.refuse(a, m.Method); code != 0 {
		var data []byte
		if code == codeMissingCapability {
			data = missingTasks()
		}
		to.Reply(wire.AppendError(nil, m.ID, code, text, data))
		return
	}
	x := s.find(c.session, member(m.Params, "taskId"))
	switch {
	case x == nil || x.rev.TaskExtension && !a.rev.TaskExtension:
		to.Reply(wire.AppendError(nil, m.ID, codeInvalidParams, noTask, nil))
		return
	case a.rev.TaskExtension && !x.rev.TaskExtension:
		s.emulate(ctx, x, m, to)
		return
	}
	r := s.newRequest(newRelayed(c, m, meta, to, x.upstream), x)
	if m.Method == "tasks/result" {
		here := noteStream{r.notes}
		s.join(x, here)
		defer x.leave(here)
	}
	r.serve(ctx)
}

func (s *tasks) newRequest(r *relayed, x *task) *taskRequest {
	r.name, r.patient = x.theirs, r.message.Method == "tasks/result"
	r.change = func(params []byte) []byte { return wire.RenameTask(params, x.theirs) }
	r.onNotification = func(method string, params []byte) {
		if !s.notification(x.upstream, method, params) {
			r.notify(method, params)
		}
	}
	r.onRequest = func(q *upstream.ServerRequest) {
		if !s.serverRequest(x.upstream, q) && r.mayAsk(q) {
			s.ask(r.client, noteStream{r.notes}, x.upstream, q)
		}
	}
	return &taskRequest{relayed: r, tasks: s, task: x}
}

// aboutTask reports whether the requests of a method name a task.
func aboutTask(method string) bool {
	switch method {
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		return true
	}
	return false
}

// refuse returns why clients of the agent's revision cannot send a method; 0: they
// can.
func (s *tasks) refuse(a agent, method string) (code int, text string) {
	offered := false
	switch {
	case a.rev.TaskExtension:
		offered = !a.rev.Lacks(method) && len(s.makers(rev.Rev2026))+len(s.makers(rev.Rev2025)) > 0
	case method == "tasks/list" || method == "tasks/cancel":
		offered = s.can(method[len("tasks/"):])
	default:
		offered = !a.rev.Lacks(method) && len(s.makers(rev.Rev2025)) > 0
	}
	switch {
	case !offered:
		return codeNoMethod, "Method not found: no upstream has " + method + " for clients of this revision"
	case a.rev.TaskExtension && !a.takesTasks():
		return codeMissingCapability, "Missing required client capability"
	}
	return 0, ""
}

// serve passes the request on and the answer back. What that says of the end of
// the task is known to the gate before it is known to the client.
func (r *taskRequest) serve(ctx context.Context) {
	id, x := r.message.ID, r.task
	if r.upstream.rev() != x.rev {
		r.stream.Reply(wire.AppendError(nil, id, codeInvalidParams, noTask, nil))
		return
	}
	reply, err := r.exchange(ctx)
	switch {
	case ctx.Err() != nil: // nobody waits for an answer
	case err != nil:
		r.stream.Reply(wire.AppendError(nil, id, codeInternal, err.Error(), nil))
	case reply.Error != nil:
		r.failed(ctx)
		r.stream.Reply(wire.ErrorHead(id), reply.Error, wire.Tail)
	default:
		r.stream.Reply(wire.ResultHead(id), r.succeeded(ctx, reply.Result), wire.Tail)
	}
}

// succeeded takes what a result says of the task, and returns it for the client.
func (r *taskRequest) succeeded(ctx context.Context, result []byte) []byte {
	x := r.task
	switch r.message.Method {
	case "tasks/result":
		r.tasks.fetched(x, result)
	case "tasks/get", "tasks/cancel":
		r.shown(ctx, result)
	}
	if r.message.Method != "tasks/result" { // a member of that name is the tool's own there
		result = wire.RenameTask(result, x.id)
	}
	result = wire.RelateTask(result, x.id)
	return r.agent.rev.Result(result, r.message.Method)
}

// shown takes a task as a result shows it. That of tasks/cancel shows none since
// 2026-07-28.
func (r *taskRequest) shown(ctx context.Context, result []byte) {
	x, s := r.task, r.tasks
	if _, is := rawjson.Member(result, "taskId"); !is {
		return
	}
	about, err := s.read(x, result)
	if err != nil {
		s.log.Warn("a task cannot be read", "upstream", r.upstream.config.Name, "call", x.ticket.Number, "error", err)
		return
	}
	s.reached(ctx, x, about)
}

// failed finds out what it means that a request for the task was refused: the
// task is gone, or this is how it ended.
func (r *taskRequest) failed(ctx context.Context) {
	if r.message.Method != "tasks/result" && r.message.Method != "tasks/get" {
		return
	}
	s, x := r.tasks, r.task
	about, err := s.get(x)
	switch {
	case errors.Is(err, errTaskGone):
		s.end(x, gate.Unknown, "task lost")
	case err != nil: // it is asked for again
	case about.Status == wire.TaskCompleted && r.message.Method == "tasks/result":
		s.end(x, gate.Failure, "task result")
	default:
		s.reached(ctx, x, about)
	}
}
