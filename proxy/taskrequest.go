package proxy

import (
	"context"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// codeMissingCapability is of revision 2026-07-28.
const codeMissingCapability = -32021

// noTask answers a request for a task that its session does not have. It says
// the same of a task of others.
const noTask = "Failed to retrieve task: Task not found"

// A taskRequest is what a client wants to know of one of its tasks, or to do
// with it. No gate decides on it: that the work may be done is decided already.
type taskRequest struct {
	*relayed
	proxy *Proxy
	task  *task
}

// serveTask serves tasks/get, tasks/result, tasks/cancel and tasks/update.
func (p *Proxy) serveTask(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream) {
	p.awaitUpstreams(ctx)
	a := c.speaker(meta)
	if code, text := p.refuseTask(a, m.Method); code != 0 {
		var data []byte
		if code == codeMissingCapability {
			data = missingTasks()
		}
		s.Reply(wire.AppendError(nil, m.ID, code, text, data))
		return
	}
	x := p.tasks.find(c.session, member(m.Params, "taskId"))
	switch {
	case x == nil || x.modern && !a.modern:
		s.Reply(wire.AppendError(nil, m.ID, codeInvalidParams, noTask, nil))
		return
	case a.modern && !x.modern:
		p.serveOlder(ctx, x, m, s)
		return
	}
	r := &taskRequest{proxy: p, task: x, relayed: p.relayed(c, m, meta, s, x.upstream)}
	r.name, r.patient = x.theirs, m.Method == "tasks/result"
	r.change = func(params []byte) []byte { return wire.RenameTask(params, x.theirs) }
	if m.Method == "tasks/result" {
		here := noteStream{r.notes}
		p.awaitTask(x, here)
		defer x.leave(here)
	}
	r.serve(ctx)
}

// aboutTask reports whether the requests of a method name a task.
func aboutTask(method string) bool {
	switch method {
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		return true
	}
	return false
}

// refuseTask is why clients of an agent's era cannot send a method; 0: they can.
func (p *Proxy) refuseTask(a agent, method string) (code int, text string) {
	offered := false
	switch {
	case a.modern:
		offered = method != "tasks/result" && method != "tasks/list" && len(p.taskers(upstream.Modern))+len(p.taskers(upstream.Legacy)) > 0
	case method == "tasks/list" || method == "tasks/cancel":
		offered = p.tasksCan(method[len("tasks/"):])
	default:
		offered = method != "tasks/update" && len(p.taskers(upstream.Legacy)) > 0
	}
	switch {
	case !offered:
		return codeNoMethod, "Method not found: no upstream has " + method + " for clients of this revision"
	case a.modern && !a.takesTasks():
		return codeMissingCapability, "Missing required client capability"
	}
	return 0, ""
}

// serve passes the request on and the answer back. What that says of the end of
// the task is known to the gate before it is known to the client.
func (r *taskRequest) serve(ctx context.Context) {
	id, x := r.message.ID, r.task
	if modern := r.upstream.State().Era == upstream.Modern; modern != x.modern {
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
		r.stream.Reply(wire.ResultHead(id), r.answered(ctx, reply.Result), wire.Tail)
	}
}

// answered takes what a result says of the task, and returns it for the client.
func (r *taskRequest) answered(ctx context.Context, result []byte) []byte {
	x, p := r.task, r.proxy
	switch r.message.Method {
	case "tasks/result":
		p.fetched(x, result)
	case "tasks/get", "tasks/cancel":
		r.shown(ctx, result)
	}
	if r.message.Method != "tasks/result" { // a member of that name is the tool's own there
		result = wire.RenameTask(result, x.id)
	}
	result = wire.RelateTask(result, x.id)
	return ofEra(result, r.message.Method, r.agent.modern)
}

// shown takes a task as a result shows it. That of tasks/cancel shows none in
// the newer era.
func (r *taskRequest) shown(ctx context.Context, result []byte) {
	x, p := r.task, r.proxy
	if _, is := rawjson.Member(result, "taskId"); !is {
		return
	}
	about, err := p.read(x, result)
	if err != nil {
		p.log.Warn("a task cannot be read", "upstream", r.upstream.config.Name, "call", x.ticket.Number, "error", err)
		return
	}
	p.reached(ctx, x, about)
}

// failed finds out what it means that a request for the task was refused: the
// task is gone, or this is how it ended.
func (r *taskRequest) failed(ctx context.Context) {
	if r.message.Method != "tasks/result" && r.message.Method != "tasks/get" {
		return
	}
	p, x := r.proxy, r.task
	about, err := p.poll(x)
	switch {
	case err == errTaskGone:
		p.endTask(x, gate.Unknown, "task lost")
	case err != nil: // it is asked for again
	case about.Status == wire.TaskCompleted && r.message.Method == "tasks/result":
		p.endTask(x, gate.Failure, "task result")
	default:
		p.reached(ctx, x, about)
	}
}

// awaitTask notes a stream on which the client waits for the result, and asks it
// there what the upstream has wanted to know meanwhile.
func (p *Proxy) awaitTask(x *task, s stream) {
	x.mu.Lock()
	x.streams = append(x.streams, s)
	waiting := x.waiting
	x.waiting = nil
	x.mu.Unlock()
	for _, q := range waiting {
		p.passOn(x.origin.client, s, x.upstream, q)
	}
}

func (x *task) leave(s stream) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, other := range x.streams {
		if other == s {
			x.streams = append(x.streams[:i:i], x.streams[i+1:]...)
			return
		}
	}
}

// taskless answers a call that cannot be made as a task and would have to be, or
// the other way round, and reports whether it did. Its upstream is the one that
// its session has by now.
func (p *Proxy) taskless(t *toolCall) bool {
	u := t.tool.upstream
	switch {
	case t.agent.modern && t.params.Task != nil:
		t.refuseAs(codeInvalidParams, `A call of this revision does not ask for a task: leave out "task".`)
	case t.asTaskAnyway() && !t.agent.takesTasks():
		t.mustTakeTask()
	case t.asTask() && u.State().Phase == upstream.Up && (u.State().Era == upstream.Modern || !u.makesTasks()):
		t.refuseAs(codeNoMethod, fmt.Sprintf("The upstream %s makes no tasks of calls; call %s without a task.", u.config.Name, t.tool.exposed))
	default:
		return false
	}
	return true
}

// asTask reports whether the client of the call expects a task for an answer,
// and so cannot read a result that says why it was refused.
func (t *toolCall) asTask() bool { return t.params.Task != nil && t.method == callTool }
