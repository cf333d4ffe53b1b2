package pipeline

import (
	"bytes"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Calls that become tasks: which calls may, how their servers are told so, and the
// answer that the client gets. The tasks themselves are in tasks.go.

// asTask reports whether the client of the call expects a task for an answer
// (params.task of 2025-11-25), and so cannot read a result that says why it was
// refused.
func (t *Call) asTask() bool { return t.params.Task != nil && t.Method == spec.CallTool }

// asTaskAnyway reports whether a client of 2026-07-28, which cannot ask for a task,
// calls a tool of a server of 2025-11-25 that is always a task.
func (t *Call) asTaskAnyway() bool {
	u := t.Tool.Upstream
	return t.Method == spec.CallTool && t.Agent.Rev.TaskExtension && t.Tool.OnlyTask && !u.Rev().TaskExtension && tasks.MakesTasks(u)
}

// taskParams returns params.task for a server of 2025-11-25; nil: the call is to be
// no task.
func (t *Call) taskParams() []byte {
	if t.asTaskAnyway() {
		return []byte(`{}`)
	}
	return t.params.Task
}

// taskRefused answers a call that cannot be made as a task and would have to be, or
// the other way round, and reports whether it did. Its upstream is the one that
// its session has by now.
func (p *Pipeline) taskRefused(t *Call) bool {
	u := t.Tool.Upstream
	switch {
	case t.Agent.Rev.TaskExtension && t.params.Task != nil:
		t.refuseAs(spec.CodeInvalidParams, `A call of this revision does not ask for a task: leave out "task".`)
	case t.asTaskAnyway() && !t.Agent.TakesTasks():
		text := fmt.Sprintf("Missing required client capability: %s can be called as a task only", t.Tool.Exposed)
		t.end(func() {
			t.Stream.Reply(wire.AppendError(nil, t.ID, spec.CodeMissingCapability, text, spec.MissingTasks()))
		})
	case t.asTask() && u.State().Phase == upstream.Up && (u.Rev().TaskExtension || !tasks.MakesTasks(u)):
		t.refuseAs(spec.CodeNoMethod, fmt.Sprintf("The upstream %s makes no tasks of calls; call %s without a task.", u.Config.Name, t.Tool.Exposed))
	default:
		return false
	}
	return true
}

// declared returns the capabilities of the client as a server of 2026-07-28 is told
// them with the call: the extension of tasks only where there is room for a task.
func (f *inflightCall) declared() []byte {
	t := f.Call
	capabilities := t.Agent.Forwarded()
	f.taskable = t.Method == spec.CallTool && (t.Agent.TakesTasks() || t.emulatesTask) && tasks.MakesTasks(t.Tool.Upstream) && t.takeTaskPlace()
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
	t := f.Call
	n := tasks.NewTask{
		Origin: t.origin(), Upstream: t.Tool.Upstream, Rev: f.rev, Ticket: f.ticket, Token: f.token,
		Reserved: t.taskPlace.Swap(false), Result: r.Result,
	}
	if t.emulatesTask {
		n.Stream = t.ownStream()
	}
	h, err := t.proxy.Tasks.Begin(n)
	if err != nil {
		t.proxy.Life.Log.Warn("a task cannot be followed", "upstream", t.Tool.Upstream.Config.Name, "tool", t.Tool.Canonical, "call", f.ticket.Number, "reason", err)
		return
	}
	f.handle = h
}

// origin returns what a task keeps of the call.
func (t *Call) origin() tasks.Origin {
	a := t.Agent
	return tasks.Origin{
		Session: t.Client.Session, Tool: t.Tool.Canonical, Since: t.gate.Time,
		Client: t.Client, Meta: wire.Meta{ProgressToken: bytes.Clone(t.Meta.ProgressToken)},
		Agent: session.Peer{Name: a.Name, Protocol: a.Protocol, Rev: a.Rev, Elicit: a.Elicit, Capabilities: bytes.Clone(a.Capabilities)},
	}
}

// SettleTask settles the call of a task.
func (p *Pipeline) SettleTask(of tasks.Origin, ticket *admission.Ticket, o gate.Outcome, by string) {
	p.settle(of.Session, ticket, o, by)
}

// answerTask gives the client the handle of the task. Where the task is over
// already, the gate knows before the client does.
func (f *inflightCall) answerTask(t *Call) {
	h := f.handle
	if t.emulatesTask {
		t.besideReader(func() { t.proxy.emulateTask(t, h.Task) })
		return
	}
	give := func() { t.pass(wire.ResultHead(t.ID), h.Result) }
	if !h.About.Status.Over() {
		give()
		return
	}
	t.besideReader(func() {
		t.proxy.Tasks.Reached(t.ctx, h.Task, h.About)
		give()
	})
}
