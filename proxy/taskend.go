package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// How often the proxy itself asks for a task, whatever its upstream suggests.
// A task whose client never asks must not keep a token in flight for ever.
const (
	usualPoll  = 5 * time.Second
	fastPoll   = 250 * time.Millisecond
	slowPoll   = time.Minute
	maxMisses  = 10 // questions in a row without an answer, after which the task is lost
	maxWaiting = maxInputs
)

// errTaskGone says that the upstream does not know the task.
var errTaskGone = errors.New("the upstream does not know the task any more")

// A handout is the task of a call, as its client is to be told of it.
type handout struct {
	task   *task
	handle []byte
	stands wire.Task // as the handle shows it
}

// mayBecomeTask reports whether the upstream may answer the call with a task:
// the client has asked for one, or since 2026-07-28 has said that it would take
// one.
func (f *flight) mayBecomeTask() bool {
	t := f.call
	if t.method != callTool {
		return false
	}
	if f.modern {
		return f.taskable
	}
	return f.asTask
}

// adopt takes the task that the upstream hands out for the call, where it may.
// It runs before anything that the upstream says of the task can be read.
func (f *flight) adopt(r upstream.Reply) {
	if r.Result == nil || !f.mayBecomeTask() {
		return
	}
	facts := wire.ResultFacts(r.Result)
	if facts.Broken || !facts.Handle() || f.modern != (facts.Type == wire.TypeTask) {
		return
	}
	p, name := f.call.proxy, f.call.tool.upstream.config.Name
	object := r.Result
	if !f.modern {
		object, _ = rawjson.Member(r.Result, "task")
	}
	about, err := wire.ParseTask(object)
	if err == nil {
		err = f.begin(r.Result, object, about)
	}
	if err != nil {
		p.log.Warn("a task cannot be followed", "upstream", name, "tool", f.call.tool.canonical, "call", f.ticket.Number, "reason", err)
	}
}

// begin makes a task of the flight and follows it. The flight keeps what its
// client is told of it.
func (f *flight) begin(result, object []byte, about wire.Task) error {
	p, now := f.call.proxy, f.call.proxy.options.Now()
	x := &task{
		id: randomID(""), theirs: about.ID, upstream: f.call.tool.upstream, modern: f.modern,
		origin: f.call.origin(), ticket: f.ticket, token: f.token, made: now, over: make(chan struct{}),
	}
	if f.call.driven { // its client waits for the result from the first
		x.streams = []stream{f.call.aloud()}
	}
	ours, _ := x.shows(object, about, now)
	if err := p.tasks.add(x, f.call.taskPlace.Swap(false), now); err != nil {
		return err
	}
	f.handout = &handout{task: x, handle: ours, stands: about}
	switch {
	case x.translated():
		f.handout.handle = modernHandle(result, ours)
	case !f.modern:
		f.handout.handle = wire.RelateTask(wire.ReplaceMember(nil, result, "task", ours), x.id)
	}
	p.recordTask(x)
	p.background(func() { p.follow(x) })
	if x.translated() {
		p.background(func() { p.drain(x) })
	}
	return nil
}

// origin returns what a task keeps of the call.
func (t *toolCall) origin() origin {
	a := t.agent
	return origin{
		settled: t.settled(), client: t.client, meta: wire.Meta{ProgressToken: bytes.Clone(t.meta.ProgressToken)},
		agent: agent{name: a.name, protocol: a.protocol, modern: a.modern, elicit: a.elicit, capabilities: bytes.Clone(a.capabilities)},
	}
}

// hand gives the client the handle of the task. Where the task is over already,
// the gate knows before the client does.
func (f *flight) hand(t *toolCall) {
	if t.driven {
		f.drive(t)
		return
	}
	h := f.handout
	give := func() { t.pass(wire.ResultHead(t.id), h.handle) }
	if !h.stands.Status.Over() {
		give()
		return
	}
	t.besideReader(func() {
		t.proxy.reached(t.ctx, h.task, h.stands)
		give()
	})
}

func (p *Proxy) recordTask(x *task) {
	p.log.Info("a call goes on as a task", "tool", x.origin.tool, "session", x.owner().id, "call", x.ticket.Number, "task", x.id)
	if !p.recorder.Active() {
		return
	}
	err := p.recorder.Write(audit.Task{
		Time: x.made, Event: "task", Session: x.owner().id, Call: x.ticket.Number, Tool: x.origin.tool, Task: x.id,
	})
	if err != nil {
		p.log.Error("recording a task", "error", err)
	}
}

// reached tells the gate how the task stands, where that is its end. What the
// result says counts, and not that there is one.
func (p *Proxy) reached(ctx context.Context, x *task, about wire.Task) {
	switch about.Status {
	case wire.TaskFailed:
		p.endTask(x, gate.Failure, "task failed")
	case wire.TaskCancelled: // which does not say that it has stopped, nor when
		p.endTask(x, gate.Unknown, "task cancelled")
	case wire.TaskCompleted:
		if x.isSettled() {
			return
		}
		o, err := p.taskOutcome(ctx, x, about)
		if err != nil {
			p.log.Warn("asking for the result of a task", "upstream", x.upstream.config.Name, "call", x.ticket.Number, "error", err)
		}
		if err == nil || errors.Is(err, errTaskGone) {
			p.endTask(x, o, "task completed")
		}
	}
}

func (x *task) isSettled() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.settled
}

// taskOutcome is what the result of a completed task means for the nets.
func (p *Proxy) taskOutcome(ctx context.Context, x *task, about wire.Task) (gate.Outcome, error) {
	if x.modern {
		return resultOutcome(x, about.Outcome), nil
	}
	reply, err := p.askUpstream(ctx, x, "tasks/result")
	switch {
	case err != nil:
		return gate.Unknown, err
	case reply.Error != nil && unknownTask(reply.Error):
		return gate.Unknown, errTaskGone
	case reply.Error != nil:
		return gate.Failure, nil
	}
	return resultOutcome(x, reply.Result), nil
}

// fetched takes the result that tasks/result has brought. Some servers answer
// it for a task that was cancelled too, with a result that looks like any other.
func (p *Proxy) fetched(x *task, result []byte) {
	about, err := p.poll(x)
	switch {
	case err == nil && about.Status == wire.TaskCancelled:
		p.reached(p.ctx, x, about)
	case err != nil && !errors.Is(err, errTaskGone): // it is asked for again
		p.log.Warn("asking how a task ended", "upstream", x.upstream.config.Name, "call", x.ticket.Number, "error", err)
	default:
		p.endTask(x, resultOutcome(x, result), "task result")
	}
}

// resultOutcome is what the result of a task means for the nets. Like that of
// a call it has to be strict JSON where a net moves by it.
func resultOutcome(x *task, result []byte) gate.Outcome {
	if !wire.Success(result) || x.ticket.Awaited && rawjson.Check(result, rawjson.MaxDepth) != nil {
		return gate.Failure
	}
	return gate.Success
}

// endTask tells the gate how the task ended, once. What is unknown can still
// become known. It returns when the gate knows, whoever told it.
func (p *Proxy) endTask(x *task, o gate.Outcome, by string) {
	x.settling.Lock()
	defer x.settling.Unlock()
	x.mu.Lock()
	first := !x.settled && (!x.lost || o != gate.Unknown)
	done := x.settled || x.lost
	x.mu.Unlock()
	if !first {
		return
	}
	p.settle(x.origin.settled, x.ticket, o, by)
	x.mu.Lock()
	x.settled, x.lost = o != gate.Unknown, o == gate.Unknown
	left := x.questions()
	x.mu.Unlock()
	for _, q := range left {
		q.Refuse(codeInternal, "the task is over")
	}
	if !done {
		close(x.over)
	}
	p.tasks.ended(x)
}

// questions takes what the upstream still asks for the task. It wants the lock.
func (x *task) questions() []*upstream.Inquiry {
	left := x.waiting
	for _, q := range x.inputs {
		left = append(left, q)
	}
	x.waiting, x.inputs = nil, nil
	return left
}

// follow asks for the task until its end is known, unless its client does so
// as often.
func (p *Proxy) follow(x *task) {
	for misses := 0; ; {
		if !p.untilPoll(x, misses) {
			return
		}
		about, err := p.poll(x)
		switch {
		case err == nil:
			misses = 0
			p.reached(p.ctx, x, about)
		case errors.Is(err, errTaskGone):
			p.endTask(x, gate.Unknown, "task lost")
		case misses >= maxMisses:
			p.endTask(x, gate.Unknown, fmt.Sprintf("task lost: %v", err))
		default:
			misses++
			x.missed(p.options.Now())
		}
	}
}

// untilPoll waits until it is time to ask again; false: that is never.
func (p *Proxy) untilPoll(x *task, misses int) bool {
	for {
		wait := x.nextPoll(misses, p.options.Now())
		if wait <= 0 {
			return !x.finished()
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-x.over:
			timer.Stop()
			return false
		case <-p.ctx.Done():
			timer.Stop()
			return false
		}
	}
}

// nextPoll is how long to wait before the task is asked for.
func (x *task) nextPoll(misses int, now time.Time) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	every := usualPoll
	if x.about.Poll > 0 {
		every = min(max(x.about.Poll, fastPoll), slowPoll)
	}
	if misses > 0 {
		every = min(every<<min(misses, 4), slowPoll)
	}
	return x.asked.Add(every).Sub(now)
}

// missed notes that the task was asked for in vain.
func (x *task) missed(now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = now
}

// poll asks for the task on our own account.
func (p *Proxy) poll(x *task) (wire.Task, error) {
	reply, err := p.askUpstream(p.ctx, x, "tasks/get")
	switch {
	case err != nil:
		return wire.Task{}, err
	case reply.Error != nil && unknownTask(reply.Error):
		return wire.Task{}, errTaskGone
	case reply.Error != nil:
		return wire.Task{}, errors.New("refused: " + text.Escape(member(reply.Error, "message")))
	}
	return p.read(x, reply.Result)
}

// read takes what the upstream shows of the task.
func (p *Proxy) read(x *task, object []byte) (wire.Task, error) {
	about, err := wire.ParseTask(object)
	if err == nil && about.ID != x.theirs {
		err = errors.New("it is another task")
	}
	if err != nil {
		return wire.Task{}, fmt.Errorf("reading a task: %w", err)
	}
	if _, changed := x.shows(object, about, p.options.Now()); changed {
		p.changed(x)
	}
	return about, nil
}

// unknownTask reports whether an upstream refuses a request for a task because
// there is no such task, as far as that can be told.
func unknownTask(failure []byte) bool {
	code, _ := rawjson.Member(failure, "code")
	switch string(code) {
	case "-32600", "-32601", "-32602", "-32001", "-32002":
		return true
	}
	return false
}

// askUpstream asks for the task on our own account. The members are further ones
// of the params, each after a comma.
func (p *Proxy) askUpstream(ctx context.Context, x *task, method string, members ...byte) (upstream.Reply, error) {
	u := x.upstream
	if modern := u.State().Era == upstream.Modern; u.State().Phase == upstream.Up && modern != x.modern {
		return upstream.Reply{}, errTaskGone // it has begun anew, in the other era
	}
	params := append(append(rawjson.AppendString([]byte(`{"taskId":`), x.theirs), members...), '}')
	request := upstream.Request{Method: method, Name: x.theirs, Params: params}
	if x.modern {
		meta := append(append([]byte(`"_meta":{`), u.RequestMeta(takesTasks())...), '}')
		request.Params = wire.AppendStamped(nil, params, meta)
	}
	ctx, cancel := context.WithTimeout(ctx, u.config.Timeout)
	defer cancel()
	sent := u.Send(request)
	select {
	case reply := <-sent.Done():
		return reply, reply.Err
	case <-ctx.Done():
		sent.Cancel("timeout")
		return upstream.Reply{}, ctx.Err()
	}
}
