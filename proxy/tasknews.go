package proxy

import (
	"strconv"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// taskStatus is by what upstreams of the older era tell of a task.
const taskStatus = "notifications/tasks/status"

// taskNews takes a notification of u that is about a task, on whatever stream
// it came, and reports whether it is one. It goes to the client of the task and
// to nobody else. It must not wait.
func (p *Proxy) taskNews(u *upstreamState, method string, params []byte) bool {
	switch method {
	case taskStatus, "notifications/tasks":
		if x := p.tasks.called(u, member(params, "taskId")); x != nil {
			p.taskSays(x, params)
		}
		return true
	case "notifications/progress":
		token, _ := rawjson.Member(params, "progressToken")
		n, err := strconv.ParseInt(string(token), 10, 64)
		if err != nil {
			return false
		}
		x := p.tasks.progressing(u, n)
		if x != nil {
			x.tell(method, params)
		}
		return x != nil
	case "notifications/message":
		x := p.tasks.called(u, wire.RelatedTask(params))
		if x != nil {
			x.tell(method, params)
		}
		return x != nil
	}
	return false
}

// taskSays takes the word of an upstream on how a task stands. Its client hears
// of the end when the gate knows it.
func (p *Proxy) taskSays(x *task, params []byte) {
	if x.modern { // who says so without being asked is asked
		p.check(x, func() {
			if about, err := p.poll(x); err == nil {
				p.reached(p.ctx, x, about)
			}
		})
		return
	}
	about, err := p.read(x, params)
	if err != nil {
		p.log.Warn("a task cannot be read", "upstream", x.upstream.config.Name, "call", x.ticket.Number, "error", err)
		return
	}
	note := wire.RelateTask(wire.RenameTask(params, x.id), x.id)
	if !about.Status.Over() {
		x.notify(taskStatus, note)
		return
	}
	p.check(x, func() {
		p.reached(p.ctx, x, about)
		x.notify(taskStatus, note)
	})
}

// check runs f beside its caller, unless it runs already for this task: an
// upstream may say the same without end.
func (p *Proxy) check(x *task, f func()) {
	if x.checking.Swap(true) {
		return
	}
	p.background(func() {
		defer x.checking.Store(false)
		f()
	})
}

// tell passes a notification that came with the work of the task on, under the
// client's own progress token.
func (x *task) tell(method string, params []byte) {
	t := x.origin
	if note := t.client.note(t.agent, t.meta, method, wire.RelateTask(params, x.id)); note != nil && !t.agent.modern {
		if s := x.stream(); s != nil {
			s.Send(note)
		}
	}
}

// notify tells the client of the task, if that is of the older era.
func (x *task) notify(method string, params []byte) {
	if s := x.origin.client.out; s != nil && !x.origin.agent.modern {
		s.Send(wire.AppendNotification(nil, method, params))
	}
}

// stream is where the client of the task can be reached: where it waits for the
// result, or else where it hears what belongs to no request.
func (x *task) stream() stream {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.streams); n > 0 {
		return x.streams[n-1]
	}
	return x.origin.client.out
}

// taskInquiry takes a request of u that belongs to a task, on whatever stream it
// came, and reports whether it is such. A client that cannot be reached now is
// asked when it waits for the result.
func (p *Proxy) taskInquiry(u *upstreamState, q *upstream.Inquiry) bool {
	x := p.tasks.called(u, wire.RelatedTask(q.Params))
	if x == nil {
		return false
	}
	t := x.origin
	switch {
	case !mayAsk(t.agent, q):
		return true
	case t.agent.modern:
		x.showInput(q)
		return true
	}
	s := x.stream()
	if push, ok := s.(*events.Push); s == nil || ok && !push.Listening() {
		x.hold(q)
		return true
	}
	p.passOn(t.client, s, u, q)
	return true
}

// hold keeps a question until the client can be asked.
func (x *task) hold(q *upstream.Inquiry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiting = waiting(x.waiting)
	if len(x.waiting) >= maxWaiting || x.settled {
		q.Refuse(codeInternal, "too many requests wait for the client")
		return
	}
	x.waiting = append(x.waiting, q)
}
