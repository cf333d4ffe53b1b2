package pipeline

import (
	"bytes"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Calls that become tasks: which calls may, how their servers are told so, and the answer
// that the client gets. Package tasks follows the tasks themselves.

// asTask reports whether the client of the call expects a task for an answer
// (params.task of 2025-11-25), and so cannot read a result that says why it was
// refused.
func (c *Call) asTask() bool { return c.params.Task != nil && c.Method == spec.CallTool }

// asTaskAnyway reports whether a client of 2026-07-28, which cannot ask for a task,
// calls a tool of a server of 2025-11-25 that is always a task.
func (c *Call) asTaskAnyway() bool {
	u := c.Tool.Upstream
	return c.Method == spec.CallTool && c.Peer.Rev.TaskExtension && c.Tool.OnlyTask && !u.Rev().TaskExtension && tasks.MakesTasks(u)
}

// taskParams returns params.task for a server of 2025-11-25; nil: the call is to be
// no task.
func (c *Call) taskParams() []byte {
	if c.asTaskAnyway() {
		return []byte(`{}`)
	}
	return c.params.Task
}

// refuseTaskMode answers a call that asks for a task which its server cannot make, or can only
// be made as a task that its client cannot take. It reports whether it did.
func (p *Pipeline) refuseTaskMode(c *Call) bool {
	u := c.Tool.Upstream
	switch {
	case c.Peer.Rev.TaskExtension && c.params.Task != nil:
		c.answerError(spec.CodeInvalidParams, `A call of this revision does not ask for a task: leave out "task".`)
	case c.asTaskAnyway() && !c.Peer.TakesTasks():
		text := fmt.Sprintf("Missing required client capability: %s can be called as a task only", c.Tool.Exposed)
		c.end(func() {
			c.Stream.Reply(wire.AppendError(nil, c.ID, spec.CodeMissingCapability, text, spec.MissingTasks()))
		})
	case c.asTask() && u.State().Phase == upstream.Up && (u.Rev().TaskExtension || !tasks.MakesTasks(u)):
		c.answerError(spec.CodeNoMethod, fmt.Sprintf("The upstream %s makes no tasks of calls; call %s without a task.", u.Config.Name, c.Tool.Exposed))
	default:
		return false
	}
	return true
}

// declared returns the capabilities of the client as a server of 2026-07-28 is told
// them with the call: the extension of tasks only where there is room for a task.
func (f *inflightCall) declared() []byte {
	c := f.Call
	capabilities := c.Peer.Forwarded()
	f.taskable = c.Method == spec.CallTool && (c.Peer.TakesTasks() || c.emulatesTask) && tasks.MakesTasks(c.Tool.Upstream) && c.takeTaskPlace()
	if !f.taskable {
		return capabilities
	}
	return tasks.WithTasks(capabilities)
}

// mayBecomeTask reports whether the server may answer the call with a task: the
// client has asked for one, or since 2026-07-28 has declared that it takes one.
func (f *inflightCall) mayBecomeTask() bool {
	switch {
	case f.Call.Method != spec.CallTool:
		return false
	case f.rev.TaskExtension:
		return f.taskable
	default:
		return f.asTask
	}
}

// taskFromReply begins the task that the server answers the call with, where it
// may. It runs before anything that the server says of the task can be read.
func (f *inflightCall) taskFromReply(r upstream.Reply) {
	if r.Result == nil || !f.mayBecomeTask() {
		return
	}
	facts := wire.ResultFacts(r.Result)
	if facts.Broken || !facts.Handle() || f.rev.TaskExtension != (facts.Type == wire.TypeTask) {
		return
	}
	c := f.Call
	n := tasks.NewTask{
		Origin: c.origin(), Upstream: c.Tool.Upstream, Rev: f.rev, Ticket: f.ticket, Token: f.token,
		Reserved: c.taskPlace.Swap(false), Result: r.Result,
	}
	if c.emulatesTask {
		n.Stream = c.ownStream()
	}
	h, err := c.pipeline.Tasks.Begin(n)
	if err != nil {
		c.pipeline.Life.Log.Warn("a task cannot be followed", "upstream", c.Tool.Upstream.Config.Name, "tool", c.Tool.Canonical, "call", f.ticket.Number, "reason", err)
		return
	}
	f.handle = h
}

// origin returns what a task keeps of the call.
func (c *Call) origin() tasks.Origin {
	a := c.Peer
	return tasks.Origin{
		Session: c.Client.Session, State: c.State, Tool: c.Tool.Canonical, Since: c.admitting.Gate.Time,
		Client: c.Client, Meta: wire.Meta{ProgressToken: bytes.Clone(c.Meta.ProgressToken)},
		Peer: session.Peer{Name: a.Name, Protocol: a.Protocol, Rev: a.Rev, Elicit: a.Elicit, Capabilities: bytes.Clone(a.Capabilities)},
	}
}

// SettleTask settles the call of a task; result is that of a success.
func (p *Pipeline) SettleTask(of tasks.Origin, ticket *admission.Ticket, o gate.Outcome, result []byte, by string) {
	p.settle(of.State, ticket, p.returned(o, result), by)
}

// becomesTask reports whether the call goes on as a task: its server has made one, or runs the
// call as a task only.
func (f *inflightCall) becomesTask(r upstream.Reply) bool { return f.handle != nil || f.needsTask(r) }

// goOnAsTask tells the client of the task, or has the server run the call as one that the
// client does not see.
func (f *inflightCall) goOnAsTask(c *Call) {
	if f.handle != nil {
		f.answerTask(c)
		return
	}
	c.emulatesTask = true
	c.spawnFromReply(func() { c.pipeline.forwardAgain(c, f.ticket) })
}

// answerTask gives the client the CreateTaskResult. Where the task is over already, the gate
// knows before the client does.
func (f *inflightCall) answerTask(c *Call) {
	h := f.handle
	if c.emulatesTask {
		c.spawnFromReply(func() { c.pipeline.emulateTask(c, h.Task) })
		return
	}
	give := func() { c.pass(wire.ResultHead(c.ID), h.Result) }
	if !h.About.Status.Over() {
		give()
		return
	}
	c.spawnFromReply(func() {
		c.pipeline.Tasks.Reached(c.ctx, h.Task, h.About)
		give()
	})
}
