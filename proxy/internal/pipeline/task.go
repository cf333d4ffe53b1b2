package pipeline

import (
	"bytes"
	"fmt"

	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// This file determines which calls can become tasks, tells the servers so, and answers the clients.
// Package tasks follows the tasks themselves.

// asTaskAnyway reports whether the call must be sent as a task although the client cannot request
// one: the client uses revision 2026-07-28, and the server uses revision 2025-11-25 and runs the
// tool only as a task.
func (c *Call) asTaskAnyway() bool {
	u := c.Tool.Upstream
	return c.Method == spec.CallTool && c.Peer.Rev.TaskExtension && c.Tool.OnlyTask && !u.Rev().TaskExtension && tasks.MakesTasks(u)
}

// taskParams returns the value of params.task for a server that uses revision 2025-11-25. If the
// call does not become a task, it returns nil.
func (c *Call) taskParams() []byte {
	if c.asTaskAnyway() {
		return []byte(`{}`)
	}
	return c.params.Task
}

// declared returns the client capabilities that are sent with the call to a server that uses
// revision 2026-07-28. They include the tasks extension only if the call has a task slot.
func (f *inflightCall) declared() []byte {
	c := f.Call
	capabilities := c.Peer.Forwarded()
	f.taskable = c.Method == spec.CallTool && (c.Peer.TakesTasks() || c.emulatesTask) && tasks.MakesTasks(c.Tool.Upstream) && c.takeTaskSlot()
	if !f.taskable {
		return capabilities
	}
	return tasks.WithTasks(capabilities)
}

// mayBecomeTask reports whether the server can answer the call with a task, because the client has
// requested one (2025-11-25) or has declared support for tasks (2026-07-28).
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

// taskFromReply begins to follow the task in the server's reply, if a task is allowed. It runs
// before any later message about the task can be read.
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
		Reserved: c.claims.And(^taskSlot)&taskSlot != 0, Result: r.Result,
	}
	if c.emulatesTask {
		n.Stream = c.ownStream()
	}
	h, err := c.pipeline.Tasks.Begin(n)
	if err != nil {
		c.pipeline.Life.Log.Warn("cannot follow a task", "upstream", c.Tool.Upstream.Config.Name, "tool", c.Tool.Canonical, "call", f.ticket.Number, "reason", err)
		return
	}
	f.handle = h
}

// origin returns the parts of the call that are kept with a task.
func (c *Call) origin() tasks.Origin {
	a := c.Peer
	return tasks.Origin{
		Session: c.Client.Session, State: c.State, Tool: c.Tool.Canonical, Since: c.admitting.Gate.Time,
		Client: c.Client, Meta: wire.Meta{ProgressToken: bytes.Clone(c.Meta.ProgressToken)},
		Peer: session.Peer{Name: a.Name, Protocol: a.Protocol, Rev: a.Rev, Elicit: a.Elicit, Capabilities: bytes.Clone(a.Capabilities)},
	}
}

// continueAsTask tells the client about the task that the call has become. If the server will run
// the call only as a task that the client must not see, continueAsTask sends the call again as a
// task.
func (f *inflightCall) continueAsTask(c *Call) {
	if f.handle != nil {
		f.answerTask(c)
		return
	}
	c.emulatesTask = true
	c.continueOff(serverReader, func() { c.pipeline.forwardAgain(c, f.ticket) })
}

// answerTask sends the CreateTaskResult to the client. If the task is already over, the gate learns
// this before the client does.
func (f *inflightCall) answerTask(c *Call) {
	h := f.handle
	if c.emulatesTask {
		c.continueOff(serverReader, func() { (&hiddenTask{h.Task, c, map[string]bool{}}).answer() })
		return
	}
	give := func() { c.replyRaw(wire.ResultHead(c.ID), h.Result) }
	if !h.About.Status.Over() {
		give()
		return
	}
	c.continueOff(serverReader, func() {
		c.pipeline.Tasks.Reached(c.ctx, h.Task, h.About)
		give()
	})
}

// refuseTaskMode answers a call that requests a task from a server without tasks. It also answers a
// call that must be a task if its client does not support tasks. It reports whether it has answered
// the call.
func (p *Pipeline) refuseTaskMode(c *Call) bool {
	u := c.Tool.Upstream
	switch {
	case c.Peer.Rev.TaskExtension && c.params.Task != nil:
		c.answerError(wire.CodeInvalidParams, `A call of this revision cannot ask for a task: leave out "task".`)
	case c.asTaskAnyway() && !c.Peer.TakesTasks():
		text := fmt.Sprintf("Missing required client capability: %s can be called as a task only", c.Tool.Exposed)
		c.end(func() {
			c.Stream.Reply(wire.AppendError(nil, c.ID, spec.CodeMissingCapability, text, spec.MissingTasks()))
		})
	case c.asTask() && u.State().Phase == upstream.Up && (u.Rev().TaskExtension || !tasks.MakesTasks(u)):
		c.answerError(wire.CodeMethodNotFound, fmt.Sprintf("The upstream %s does not run calls as tasks; call %s without a task.", u.Config.Name, c.Tool.Exposed))
	default:
		return false
	}
	return true
}
