package proxy

import (
	"strconv"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// taskStatus is the notification of 2025-11-25 of how a task stands.
const taskStatus = "notifications/tasks/status"

// notification takes a notification of u that is about a task, on whatever stream
// it came, and reports whether it is one: notifications/tasks/status (2025-11-25),
// notifications/tasks (2026-07-28), or progress or a log message that belongs to a
// task. It goes to the client of the task and to nobody else. It must not wait.
func (s *tasks) notification(u *upstreamState, method string, params []byte) bool {
	switch method {
	case taskStatus, "notifications/tasks":
		if x := s.byServer(u, member(params, "taskId")); x != nil {
			s.announced(x, params)
		}
		return true
	case "notifications/progress":
		token, _ := rawjson.Member(params, "progressToken")
		n, err := strconv.ParseInt(string(token), 10, 64)
		if err != nil {
			return false
		}
		x := s.byToken(u, n)
		if x != nil {
			x.pass(method, params)
		}
		return x != nil
	case "notifications/message":
		x := s.byServer(u, wire.RelatedTask(params))
		if x != nil {
			x.pass(method, params)
		}
		return x != nil
	}
	return false
}

// announced takes the status of a task from a notification. The client hears of
// the end when the gate knows it.
func (s *tasks) announced(x *task, params []byte) {
	if x.rev.TaskExtension { // the notification may be late or forged: tasks/get has the last word
		s.check(x, func() {
			if about, err := s.get(x); err == nil {
				s.reached(s.life.ctx, x, about)
			}
		})
		return
	}
	about, err := s.read(x, params)
	if err != nil {
		s.log.Warn("a task cannot be read", "upstream", x.upstream.config.Name, "call", x.ticket.Number, "error", err)
		return
	}
	note := wire.RelateTask(wire.RenameTask(params, x.id), x.id)
	if !about.Status.Over() {
		x.notify(taskStatus, note)
		return
	}
	s.check(x, func() {
		s.reached(s.life.ctx, x, about)
		x.notify(taskStatus, note)
	})
}

// check runs f beside its caller, unless it runs already for this task: a server
// may announce the same without end.
func (s *tasks) check(x *task, f func()) {
	if x.checking.Swap(true) {
		return
	}
	s.life.background(func() {
		defer x.checking.Store(false)
		f()
	})
}

// pass passes progress and log messages of the task on, under the client's own
// progress token.
func (x *task) pass(method string, params []byte) {
	t := x.origin
	if note := t.client.note(t.agent, t.meta, method, wire.RelateTask(params, x.id)); note != nil && !t.agent.rev.TaskExtension {
		if s := x.stream(); s != nil {
			s.Send(note)
		}
	}
}

// notify sends a notification about the task to a client of the 2025 revisions.
func (x *task) notify(method string, params []byte) {
	if s := x.origin.client.out; s != nil && !x.origin.agent.rev.TaskExtension {
		s.Send(wire.AppendNotification(nil, method, params))
	}
}
