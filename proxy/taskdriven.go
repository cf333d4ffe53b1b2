package proxy

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A client of 2025-11-25 in front of an upstream of 2026-07-28: what that runs as
// a task only is called as one, and the proxy stays with the task to its end in
// the client's place, who gets the result as that of the call. It is one call for
// the gate, and for its client.

// drivePoll is the longest that is waited until such a task is looked at again.
const drivePoll = time.Second

// mustDrive reports whether the upstream has refused the call, before it ran, for
// the only reason that its client takes no task.
func (f *flight) mustDrive(r upstream.Reply) bool {
	t := f.call
	if !f.modern || f.taskable || t.agent.modern || t.method != callTool || t.driven || r.Error == nil || !t.tool.upstream.makesTasks() {
		return false
	}
	code, _ := rawjson.Member(r.Error, "code")
	_, wanted := within(r.Error, "data", "requiredCapabilities", "extensions", tasksExtension)
	return wanted && string(code) == fmt.Sprint(codeMissingCapability)
}

// driveTask stays with a task until it is over, and answers the call.
func (p *Proxy) driveTask(t *toolCall, x *task) {
	defer x.leave(t.aloud())
	asked := map[string]bool{}
	for misses := 0; misses <= maxMisses; {
		detail, err := p.detail(t.ctx, x)
		switch {
		case t.ctx.Err() != nil: // its client does not want the result any more
			p.cancelTask(x)
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
			if why := p.driveInput(t, x, detail, asked); why != "" && t.ctx.Err() == nil {
				p.cancelTask(x)
				t.answer(unanswered("unsupported", gate.Failure, why))
				return
			}
		}
		if misses <= maxMisses {
			t.untilLook(x)
		}
	}
	t.answer(unanswered("unknown", gate.Unknown, fmt.Sprintf("The outcome of %s is unknown: its upstream ran it as a task, and that was cancelled, or is lost. Find out before calling it again.", t.tool.exposed)))
}

// deliverTask answers with the end of a task.
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

// cancelTask asks the upstream to end a task, on our own account.
func (p *Proxy) cancelTask(x *task) {
	p.background(func() { _, _ = p.askUpstream(p.ctx, x, "tasks/cancel") })
}

func (x *task) isLost() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.lost && !x.settled
}

// untilLook waits until it is time to look at the task again, and writes
// meanwhile what its upstream tells.
func (t *toolCall) untilLook(x *task) {
	timer := time.NewTimer(min(max(x.nextPoll(0, t.proxy.options.Now()), fastPoll), drivePoll))
	defer timer.Stop()
	over := x.over
	if x.finished() { // the last look failed: it is not to be repeated at once
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

// waitsHere reports whether the goroutine of the client is the caller's, as far
// as it has one.
func (t *toolCall) waitsHere() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.landed != nil
}

// driveInput asks the client what the task wants to know, and hands the answers
// to the task. It returns why the task cannot go on; empty: it can.
func (p *Proxy) driveInput(t *toolCall, x *task, detail []byte, asked map[string]bool) (why string) {
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
	if _, err := p.askUpstream(t.ctx, x, "tasks/update", append([]byte(`,"inputResponses":`), responses...)...); err != nil {
		p.log.Warn("handing input to a task", "upstream", x.upstream.config.Name, "call", x.ticket.Number, "error", err)
	}
	return ""
}

// drive runs the rest of the call beside the reader.
func (f *flight) drive(t *toolCall) {
	x := f.handout.task
	t.besideReader(func() { t.proxy.driveTask(t, x) })
}
