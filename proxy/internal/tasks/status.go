package tasks

import (
	"strconv"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Notification handles a server's notification about a task: notifications/tasks/status
// (2025-11-25), notifications/tasks (2026-07-28), or a progress or log message of a task. The
// notification can arrive on any stream. Notification returns false if the notification is not
// about a task. Only the client that owns the task receives it. Notification must not block.
func (s *Tasks) Notification(u *pool.Server, method string, params []byte) bool {
	switch method {
	case spec.TaskStatus, "notifications/tasks":
		if x := s.byServer(u, rawjson.StringAt(params, "taskId")); x != nil {
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
			x.forward(method, params)
		}
		return x != nil
	case "notifications/message":
		x := s.byServer(u, wire.RelatedTask(params))
		if x != nil {
			x.forward(method, params)
		}
		return x != nil
	}
	return false
}

// announced updates the task according to a notification. The gate learns how the task ended before
// the client does.
func (s *Tasks) announced(x *Task, params []byte) {
	if x.rev.TaskExtension { // the notification may be late or forged, so ask with tasks/get
		s.runCheck(x, func() {
			if about, err := s.get(x); err == nil {
				s.Reached(s.Life.Ctx, x, about)
			}
		})
		return
	}
	about, err := s.read(x, params)
	if err != nil {
		s.Life.Log.Warn("cannot read a task", "upstream", x.Upstream.Config.Name, "call", x.Ticket.Number, "error", err)
		return
	}
	note := wire.RelateTask(wire.RenameTask(params, x.id), x.id)
	if !about.Status.Over() {
		x.notify(spec.TaskStatus, note)
		return
	}
	s.runCheck(x, func() {
		s.Reached(s.Life.Ctx, x, about)
		x.notify(spec.TaskStatus, note)
	})
}

// runCheck runs f in a new goroutine, unless a check of this task is already running. Otherwise, a
// server could start any number of checks by repeating the same notification.
func (s *Tasks) runCheck(x *Task, f func()) {
	if x.checking.Swap(true) {
		return
	}
	s.Life.Background(func() {
		defer x.checking.Store(false)
		f()
	})
}

// forward forwards the progress and log messages of the task. It replaces the progress token with
// the client's own.
func (x *Task) forward(method string, params []byte) {
	t := x.origin
	if note := t.Client.Notification(t.Peer, t.Meta, method, wire.RelateTask(params, x.id)); note != nil && !t.Peer.Rev.TaskExtension {
		if s := x.stream(); s != nil {
			s.Send(note)
		}
	}
}

// notify sends a notification about the task to a client that uses revision 2025-11-25.
func (x *Task) notify(method string, params []byte) {
	if s := x.origin.Client.Out; s != nil && !x.origin.Peer.Rev.TaskExtension {
		s.Send(wire.AppendNotification(nil, method, params))
	}
}
