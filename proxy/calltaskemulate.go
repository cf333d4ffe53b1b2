package proxy

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Calls by clients of 2025-11-25 of what a server of 2026-07-28 runs as a task only.
// The call is made as a task, and the proxy sends tasks/get and tasks/update in the
// client's place until the task is over; the client gets its result as that of the
// call. It is one call for the gate, and for its client.

// maxEmulatedPoll bounds the time between two tasks/get for such a call.
const maxEmulatedPoll = time.Second

// needsTask reports whether the server has refused the call, before it ran, for the
// only reason that its client takes no task (error -32021).
func (f *inflightCall) needsTask(r upstream.Reply) bool {
	t := f.call
	if !f.rev.TaskExtension || f.taskable || t.agent.rev.TaskExtension || t.method != callTool || t.emulatesTask || r.Error == nil || !t.tool.upstream.makesTasks() {
		return false
	}
	code, _ := rawjson.Member(r.Error, "code")
	_, wanted := within(r.Error, "data", "requiredCapabilities", "extensions", tasksExtension)
	return wanted && string(code) == fmt.Sprint(codeMissingCapability)
}

// emulateTask polls a task until it is over, and answers the call.
func (p *Proxy) emulateTask(t *toolCall, x *task) {
	defer x.leave(t.ownStream())
	asked := map[string]bool{}
	for misses := 0; misses <= maxMisses; {
		detail, err := p.tasks.detail(t.ctx, x)
		switch {
		case t.ctx.Err() != nil: // its client does not want the result any more
			p.tasks.cancel(x)
			t.conclude(func() {})
			return
		case x.isLost():
			misses = maxMisses + 1
		case err != nil:
			misses++
		case x.isSettled():
			t.deliverTask(detail)
			return
		default:
			misses = 0
			if why := p.passInput(t, x, detail, asked); why != "" && t.ctx.Err() == nil {
				p.tasks.cancel(x)
				t.answer(unanswered("unsupported", gate.Failure, why))
				return
			}
		}
		if misses <= maxMisses {
			t.untilPoll(x)
		}
	}
	t.answer(unanswered("unknown", gate.Unknown, fmt.Sprintf("The outcome of %s is unknown: its upstream ran it as a task, and that was cancelled, or is lost. Find out before calling it again.", t.tool.exposed)))
}

// deliverTask answers the call with the result or error in its task.
func (t *toolCall) deliverTask(detail []byte) {
	if result, ok := rawjson.Member(detail, "result"); ok {
		t.deliver(upstream.Reply{Result: result}, wire.ResultFacts(result))
		return
	}
	failure, ok := rawjson.Member(detail, "error")
	if !ok {
		failure = fmt.Appendf(nil, `{"code":%d,"message":"the task failed"}`, codeInternal)
	}
	t.deliver(upstream.Reply{Error: failure}, wire.Facts{})
}

// untilPoll waits until the next tasks/get is due, and writes meanwhile the
// notifications of the server.
func (t *toolCall) untilPoll(x *task) {
	timer := time.NewTimer(min(max(x.nextPoll(0, t.proxy.now()), fastPoll), maxEmulatedPoll))
	defer timer.Stop()
	over := x.over
	if x.finished() { // the last tasks/get failed: it is not to be repeated at once
		over = nil
	}
	var wake <-chan struct{}
	if t.notes != nil && t.waitsHere() {
		wake = t.notes.wake
	}
	for {
		select {
		case <-wake:
			t.notes.writeTo(t.stream)
			continue
		case <-timer.C:
		case <-over:
		case <-t.ctx.Done():
		}
		return
	}
}

// passInput puts new inputRequests of the task to the client, and sends the answers
// by tasks/update. It returns why the task cannot go on; empty: it can.
func (p *Proxy) passInput(t *toolCall, x *task, detail []byte, asked map[string]bool) (why string) {
	if member(detail, "status") != "input_required" {
		return ""
	}
	all, err := inputRequests(detail)
	var fresh []inputRequest
	for _, r := range all {
		if !asked[r.key] {
			fresh = append(fresh, r)
		}
		asked[r.key] = true
	}
	if err == nil {
		err = t.agent.answersAll(fresh)
	}
	if err != nil || len(asked) > maxInputs {
		return fmt.Sprintf("The upstream %s asked for input that cannot be had.", x.upstream.config.Name)
	}
	if len(fresh) == 0 {
		return ""
	}
	responses, err := p.askAll(t, fresh)
	if err != nil {
		return fmt.Sprintf("%s did not complete: %v.", t.tool.exposed, err)
	}
	if _, err := p.tasks.request(t.ctx, x, "tasks/update", append([]byte(`,"inputResponses":`), responses...)...); err != nil {
		p.log.Warn("handing input to a task", "upstream", x.upstream.config.Name, "call", x.ticket.Number, "error", err)
	}
	return ""
}
