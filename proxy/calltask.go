package proxy

import (
	"bytes"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Calls that become tasks: which calls may, how their servers are told so, and the
// answer that the client gets. The tasks themselves are in tasks.go.

// asTask reports whether the client of the call expects a task for an answer
// (params.task of 2025-11-25), and so cannot read a result that says why it was
// refused.
func (t *toolCall) asTask() bool { return t.params.Task != nil && t.method == callTool }

// asTaskAnyway reports whether a client of 2026-07-28, which cannot ask for a task,
// calls a tool of a server of 2025-11-25 that is always a task.
func (t *toolCall) asTaskAnyway() bool {
	u := t.tool.upstream
	return t.method == callTool && t.agent.rev.TaskExtension && t.tool.onlyTask && !u.rev().TaskExtension && u.makesTasks()
}

// taskParams returns params.task for a server of 2025-11-25; nil: the call is to be
// no task.
func (t *toolCall) taskParams() []byte {
	if t.asTaskAnyway() {
		return []byte(`{}`)
	}
	return t.params.Task
}

// taskRefused answers a call that cannot be made as a task and would have to be, or
// the other way round, and reports whether it did. Its upstream is the one that
// its session has by now.
func (p *Proxy) taskRefused(t *toolCall) bool {
	u := t.tool.upstream
	switch {
	case t.agent.rev.TaskExtension && t.params.Task != nil:
		t.refuseAs(codeInvalidParams, `A call of this revision does not ask for a task: leave out "task".`)
	case t.asTaskAnyway() && !t.agent.takesTasks():
		text := fmt.Sprintf("Missing required client capability: %s can be called as a task only", t.tool.exposed)
		t.end(func() { t.stream.Reply(wire.AppendError(nil, t.id, codeMissingCapability, text, missingTasks())) })
	case t.asTask() && u.State().Phase == upstream.Up && (u.rev().TaskExtension || !u.makesTasks()):
		t.refuseAs(codeNoMethod, fmt.Sprintf("The upstream %s makes no tasks of calls; call %s without a task.", u.config.Name, t.tool.exposed))
	default:
		return false
	}
	return true
}

// declared returns the capabilities of the client as a server of 2026-07-28 is told
// them with the call: the extension of tasks only where there is room for a task.
func (f *inflightCall) declared() []byte {
	t := f.call
	capabilities := t.agent.relayed()
	f.taskable = t.method == callTool && (t.agent.takesTasks() || t.emulatesTask) && t.tool.upstream.makesTasks() && t.takeTaskPlace()
	if !f.taskable {
		return capabilities
	}
	return withTasks(capabilities)
}

// mayBecomeTask reports whether the server may answer the call with a task: the
// client has asked for one, or since 2026-07-28 has declared that it takes one.
func (f *inflightCall) mayBecomeTask() bool {
	switch {
	case f.call.method != callTool:
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
	t := f.call
	n := newTask{
		origin: t.origin(), upstream: t.tool.upstream, rev: f.rev, ticket: f.ticket, token: f.token,
		reserved: t.taskPlace.Swap(false), result: r.Result,
	}
	if t.emulatesTask {
		n.stream = t.ownStream()
	}
	h, err := t.proxy.tasks.begin(n)
	if err != nil {
		t.proxy.log.Warn("a task cannot be followed", "upstream", t.tool.upstream.config.Name, "tool", t.tool.canonical, "call", f.ticket.Number, "reason", err)
		return
	}
	f.handle = h
}

// origin returns what a task keeps of the call.
func (t *toolCall) origin() origin {
	a := t.agent
	return origin{
		session: t.client.session, tool: t.tool.canonical, since: t.gate.Time,
		client: t.client, meta: wire.Meta{ProgressToken: bytes.Clone(t.meta.ProgressToken)},
		agent: agent{name: a.name, protocol: a.protocol, rev: a.rev, elicit: a.elicit, capabilities: bytes.Clone(a.capabilities)},
	}
}

// settleTask settles the call of a task.
func (p *Proxy) settleTask(of origin, ticket *admission.Ticket, o gate.Outcome, by string) {
	p.settle(of.session, ticket, o, by)
}

// answerTask gives the client the handle of the task. Where the task is over
// already, the gate knows before the client does.
func (f *inflightCall) answerTask(t *toolCall) {
	h := f.handle
	if t.emulatesTask {
		t.besideReader(func() { t.proxy.emulateTask(t, h.task) })
		return
	}
	give := func() { t.pass(wire.ResultHead(t.id), h.result) }
	if !h.about.Status.Over() {
		give()
		return
	}
	t.besideReader(func() {
		t.proxy.tasks.reached(t.ctx, h.task, h.about)
		give()
	})
}
