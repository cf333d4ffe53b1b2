package pipeline

import (
	"bytes"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// The functions in this file tell servers which calls can become tasks, and tell clients about the
// tasks. Package tasks tracks the tasks themselves.

// declaredCapabilities returns the client capabilities to send with the call to a server that uses
// revision 2026-07-28. They include the tasks extension only if the call has a slot for a task.
func (f *inflightCall) declaredCapabilities() []byte {
	c := f.Call
	capabilities := c.Peer.Forwarded()
	f.taskable = c.Method == spec.CallTool && (c.Peer.TakesTasks() || c.emulatesTask) && tasks.MakesTasks(c.Tool.Upstream) && c.takeTaskSlot()
	if !f.taskable {
		return capabilities
	}
	return tasks.WithTasks(capabilities)
}

// mayBecomeTask reports whether the server may return a task for the call, because the client has
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

// taskFromReply looks for a task in the server's reply. If the call may become a task,
// taskFromReply adds it to the tasks that the proxy tracks. It must run before the server's next
// message is read, because that message may be about the task.
func (f *inflightCall) taskFromReply(r upstream.Reply) {
	if r.Result == nil || !f.mayBecomeTask() {
		return
	}
	facts := wire.ResultFacts(r.Result)
	if facts.Broken || !facts.IsHandle() || f.rev.TaskExtension != (facts.Type == wire.TypeTask) {
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

// origin returns the parts of the call that its task needs after the call has been answered.
func (c *Call) origin() tasks.Origin {
	a := c.Peer
	return tasks.Origin{
		Session: c.Client.Session, State: c.State, Tool: c.Tool.Canonical, Since: c.admitting.Gate.Time,
		Client: c.Client, Meta: wire.Meta{ProgressToken: bytes.Clone(c.Meta.ProgressToken)},
		Peer: session.Peer{Name: a.Name, Protocol: a.Protocol, Rev: a.Rev, Elicit: a.Elicit, Capabilities: bytes.Clone(a.Capabilities)},
	}
}

// continueAsTask tells the client about the task that the call has become. If the server runs the
// tool only as a task and the client does not support tasks, continueAsTask sends the call again,
// as a task that the client does not see.
func (f *inflightCall) continueAsTask(c *Call) {
	if f.handle != nil {
		f.answerTask(c)
		return
	}
	c.emulatesTask = true
	c.continueOff(serverReader, func() { c.pipeline.forwardAgain(c, f.ticket) })
}

// answerTask sends the CreateTaskResult to the client. If the task has already ended, the gate
// learns the outcome first. If the task is hidden from the client, the client receives the task's
// result instead, once the task has ended.
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

// refuseTaskMode refuses the call if the client requests a task but cannot get one. It also refuses
// a call that must be sent as a task (see mustSendAsTask) if the client does not support tasks. It
// reports whether it has refused the call.
func (p *Pipeline) refuseTaskMode(c *Call) bool {
	u := c.Tool.Upstream
	switch {
	case c.Peer.Rev.TaskExtension && c.params.Task != nil:
		c.answerError(wire.CodeInvalidParams, `A call of this revision cannot ask for a task: leave out "task".`)
	case c.mustSendAsTask() && !c.Peer.TakesTasks():
		text := fmt.Sprintf("Missing required client capability: %s can be called as a task only", c.Tool.Exposed)
		c.end(func() {
			c.Stream.Reply(wire.AppendError(nil, c.ID, spec.CodeMissingCapability, text, spec.MissingTasks()))
		})
	case c.wantsTask() && u.State().Phase == upstream.Up && (u.Rev().TaskExtension || !tasks.MakesTasks(u)):
		c.answerError(wire.CodeMethodNotFound, fmt.Sprintf("The upstream %s does not run calls as tasks; call %s without a task.", u.Config.Name, c.Tool.Exposed))
	default:
		return false
	}
	return true
}

// A server that uses revision 2026-07-28 may run a tool only as a task. For a client that uses
// revision 2025-11-25, the proxy then sends the call as a task, and sends tasks/get and
// tasks/update on the client's behalf until the task is over. The client gets the task's result as
// the result of the call. Both the gate and the client see a single call.

// maxEmulatedPoll is the maximum time between two tasks/get requests for a task that the client
// does not see.
const maxEmulatedPoll = time.Second

// needsTask reports whether the server refused the call, without running it, only because the
// client does not support tasks (error -32021).
func (f *inflightCall) needsTask(r upstream.Reply) bool {
	c := f.Call
	if !f.rev.TaskExtension || f.taskable || c.Peer.Rev.TaskExtension || c.Method != spec.CallTool || c.emulatesTask || r.Error == nil || !tasks.MakesTasks(c.Tool.Upstream) {
		return false
	}
	code, _ := rawjson.Member(r.Error, "code")
	_, wanted := rawjson.MemberAt(r.Error, "data", "requiredCapabilities", "extensions", spec.TasksExtension)
	return wanted && string(code) == fmt.Sprint(spec.CodeMissingCapability)
}

// A hiddenTask is a task that the call's client does not see.
type hiddenTask struct {
	*tasks.Task
	call  *Call
	asked map[string]bool // keys of the inputRequests already sent to the client
}

// answer polls the task until it is over, and then responds to the client.
func (x *hiddenTask) answer() {
	c, p := x.call, x.call.pipeline
	defer x.Leave(c.ownStream())
	for misses := 0; misses <= tasks.MaxMisses; {
		detail, err := p.Tasks.Detail(c.ctx, x.Task)
		switch {
		case c.ctx.Err() != nil: // the client has stopped waiting for the result
			p.Tasks.Cancel(x.Task)
			c.end(nil)
			return
		case x.IsLost():
			misses = tasks.MaxMisses + 1
		case err != nil:
			misses++
		case x.IsSettled():
			x.deliver(detail)
			return
		default:
			misses = 0
			if why := x.passInput(detail); why != "" && c.ctx.Err() == nil {
				p.Tasks.Cancel(x.Task)
				c.answer(unansweredRefusal("unsupported", gate.Failure, why))
				return
			}
		}
		if misses <= tasks.MaxMisses {
			x.awaitPoll()
		}
	}
	c.answer(unansweredRefusal("unknown", gate.Unknown, fmt.Sprintf("The outcome of %s is unknown: its upstream ran it as a task, which was cancelled or lost. Find out before calling it again.", c.Tool.Exposed)))
}

// deliver responds to the client with the task's result or error.
func (x *hiddenTask) deliver(detail []byte) {
	c := x.call
	if result, ok := rawjson.Member(detail, "result"); ok {
		c.deliver(upstream.Reply{Result: result}, wire.ResultFacts(result))
		return
	}
	failure, ok := rawjson.Member(detail, "error")
	if !ok {
		failure = fmt.Appendf(nil, `{"code":%d,"message":"the task failed"}`, wire.CodeInternal)
	}
	c.deliver(upstream.Reply{Error: failure}, wire.Facts{})
}

// awaitPoll waits until the next tasks/get request is due, and meanwhile writes the server's
// notifications. It returns early if the task finishes or the call's context is done.
func (x *hiddenTask) awaitPoll() {
	c := x.call
	timer := time.NewTimer(min(max(x.NextPoll(0, c.pipeline.Life.Now()), tasks.FastPoll), maxEmulatedPoll))
	defer timer.Stop()
	over := x.Over
	if x.Finished() { // the last tasks/get failed, so it must not be repeated immediately
		over = nil
	}
	var wake <-chan struct{}
	if c.outbox != nil && c.hasWaiter() {
		wake = c.outbox.Wake
	}
	for {
		select {
		case <-wake:
			c.outbox.WriteTo(c.Stream)
			continue
		case <-timer.C:
		case <-over:
		case <-c.ctx.Done():
		}
		return
	}
}

// passInput sends the task's new inputRequests to the client, and then sends the client's responses
// to the server with tasks/update. It returns the reason why the task cannot continue, or "" if it
// can.
func (x *hiddenTask) passInput(detail []byte) (why string) {
	c, p := x.call, x.call.pipeline
	if rawjson.StringAt(detail, "status") != "input_required" {
		return ""
	}
	all, err := spec.InputRequests(detail)
	var fresh []spec.InputRequest
	for _, r := range all {
		if !x.asked[r.Key] {
			fresh = append(fresh, r)
		}
		x.asked[r.Key] = true
	}
	if err == nil {
		err = checkSupported(c.Peer, fresh)
	}
	if err != nil || len(x.asked) > spec.MaxInputs {
		return fmt.Sprintf("The upstream %s asked for input that is not available.", x.Upstream.Config.Name)
	}
	if len(fresh) == 0 {
		return ""
	}
	responses, err := p.askAll(c, fresh)
	if err != nil {
		return fmt.Sprintf("%s did not complete: %v.", c.Tool.Exposed, err)
	}
	if _, err := p.Tasks.Request(c.ctx, x.Task, "tasks/update", append([]byte(`,"inputResponses":`), responses...)...); err != nil {
		p.Life.Log.Warn("handing input to a task", "upstream", x.Upstream.Config.Name, "call", x.Ticket.Number, "error", err)
	}
	return ""
}

// becomesTask reports whether the call continues as a task, because the server has created one or
// runs the tool only as a task.
func (f *inflightCall) becomesTask(r upstream.Reply) bool { return f.handle != nil || f.needsTask(r) }
