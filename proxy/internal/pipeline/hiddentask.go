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

// A server that uses revision 2026-07-28 may run a tool only as a task, and a client that uses
// revision 2025-11-25 can call this tool. The proxy then sends the call as a task. Until the task
// is over, it sends tasks/get and tasks/update on behalf of the client. The client gets the task's
// result as the result of the call. The gate and the client see a single call.

// maxEmulatedPoll is the maximum time between two tasks/get requests for a task that the client
// does not see.
const maxEmulatedPoll = time.Second

// needsTask reports whether the server has refused the call before running it, only because the
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

// A hiddenTask is a task that the client of the call does not see.
type hiddenTask struct {
	*tasks.Task
	call  *Call
	asked map[string]bool // keys of the inputRequests that were already sent to the client
}

// answer polls the task until it is over, and then answers the call.
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
	c.answer(unanswered("unknown", gate.Unknown, fmt.Sprintf("The outcome of %s is unknown: its upstream ran it as a task, which was cancelled or lost. Find out before calling it again.", c.Tool.Exposed)))
}

// deliver answers the call with the task's result or error.
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

// untilPoll waits until the next tasks/get is due. While it waits, it writes the server's
// notifications.
func (x *hiddenTask) untilPoll() {
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

// passInput sends the new inputRequests of the task to the client, and the answers to the server
// with tasks/update. It returns the reason why the task cannot continue, or "".
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
		err = answersAll(c.Peer, fresh)
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

// becomesTask reports whether the call continues as a task, because the server has created a task
// or will run the call only as a task.
func (f *inflightCall) becomesTask(r upstream.Reply) bool { return f.handle != nil || f.needsTask(r) }
