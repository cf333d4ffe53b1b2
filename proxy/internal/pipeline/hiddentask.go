package pipeline

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Calls by clients of 2025-11-25 of tools that a server of 2026-07-28 runs only as tasks. The proxy
// sends the call as a task, and sends tasks/get and tasks/update in the client's place until the
// task is over; the client gets the task's result as that of the call. The gate and the client see
// a single call.

// maxEmulatedPoll limits the time between two tasks/get requests for such a call.
const maxEmulatedPoll = time.Second

// needsTask reports whether the server refused the call, before running it, only because its client
// does not support tasks (error -32021).
func (f *inflightCall) needsTask(r upstream.Reply) bool {
	c := f.Call
	if !f.rev.TaskExtension || f.taskable || c.Peer.Rev.TaskExtension || c.Method != spec.CallTool || c.emulatesTask || r.Error == nil || !tasks.MakesTasks(c.Tool.Upstream) {
		return false
	}
	code, _ := rawjson.Member(r.Error, "code")
	_, wanted := rawjson.MemberAt(r.Error, "data", "requiredCapabilities", "extensions", spec.TasksExtension)
	return wanted && string(code) == fmt.Sprint(spec.CodeMissingCapability)
}

// A hiddenTask is a task that the client of its call does not see.
type hiddenTask struct {
	*tasks.Task
	call  *Call
	asked map[string]bool // keys of the inputRequests that the client was asked
}

// answer polls the task until it is over, and answers the call.
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
				c.answer(unanswered("unsupported", gate.Failure, why))
				return
			}
		}
		if misses <= tasks.MaxMisses {
			x.untilPoll()
		}
	}
	c.answer(unanswered("unknown", gate.Unknown, fmt.Sprintf("The outcome of %s is unknown: its upstream ran it as a task, and that was cancelled, or is lost. Find out before calling it again.", c.Tool.Exposed)))
}

// deliver answers the call with the result or error of the task.
func (x *hiddenTask) deliver(detail []byte) {
	c := x.call
	if result, ok := rawjson.Member(detail, "result"); ok {
		c.deliver(upstream.Reply{Result: result}, wire.ResultFacts(result))
		return
	}
	failure, ok := rawjson.Member(detail, "error")
	if !ok {
		failure = fmt.Appendf(nil, `{"code":%d,"message":"the task failed"}`, spec.CodeInternal)
	}
	c.deliver(upstream.Reply{Error: failure}, wire.Facts{})
}

// untilPoll waits until the next tasks/get is due, and writes the server's notifications meanwhile.
func (x *hiddenTask) untilPoll() {
	c := x.call
	timer := time.NewTimer(min(max(x.NextPoll(0, c.pipeline.Life.Now()), tasks.FastPoll), maxEmulatedPoll))
	defer timer.Stop()
	over := x.Over
	if x.Finished() { // the last tasks/get failed: do not repeat it at once
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

// passInput sends new inputRequests of the task to the client, and sends the answers to the server
// by tasks/update. It returns why the task cannot continue, or an empty string.
func (x *hiddenTask) passInput(detail []byte) (why string) {
	c, p := x.call, x.call.pipeline
	if spec.Member(detail, "status") != "input_required" {
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
		err = answersAll(c.Peer, fresh)
	}
	if err != nil || len(x.asked) > spec.MaxInputs {
		return fmt.Sprintf("The upstream %s asked for input that cannot be had.", x.Upstream.Config.Name)
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

// becomesTask reports whether the call continues as a task: its server has created one, or runs the
// call only as a task.
func (f *inflightCall) becomesTask(r upstream.Reply) bool { return f.handle != nil || f.needsTask(r) }
