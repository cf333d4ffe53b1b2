package tasks

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Notification handles a server's notification about a task: notifications/tasks/status
// (2025-11-25), notifications/tasks (2026-07-28), or a task's progress or log message. It can
// arrive on any stream. Only the client that owns the task receives it. Notification returns false
// if the notification is not about a task. It must not block.
func (s *Tasks) Notification(u *pool.Server, method string, params []byte) bool {
	var x *Task
	switch method {
	case spec.TaskStatus, "notifications/tasks":
		if x := s.byServer(u, rawjson.StringAt(params, "taskId")); x != nil {
			s.announced(x, params)
		}
		return true
	case "notifications/progress":
		if token, ok := wire.ProgressToken(params); ok {
			x = s.byToken(u, token)
		}
	case "notifications/message":
		x = s.byServer(u, wire.RelatedTask(params))
	}
	if x != nil {
		x.forward(method, params)
	}
	return x != nil
}

// announced updates the task after a notification about its status. The gate learns how the task
// ended before the client does.
func (s *Tasks) announced(x *Task, params []byte) {
	if x.rev.TaskExtension { // the notification may be late or forged, so the status is requested with tasks/get
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
// server could start any number of checks by repeating a notification.
func (s *Tasks) runCheck(x *Task, f func()) {
	if x.checking.Swap(true) {
		return
	}
	s.Life.Background(func() {
		defer x.checking.Store(false)
		f()
	})
}

// forward sends a progress or log message about the task to the client, with the client's own
// progress token. It drops the message if the client did not ask for such messages, uses revision
// 2026-07-28 or has no stream.
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

// ServerRequest handles a server's request about a task (elicitation/create, sampling/createMessage
// or roots/list with related-task in its _meta). The request can arrive on any stream. A client
// that uses revision 2026-07-28 receives it in the task's inputRequests. Any other client receives
// it as a request: immediately if it has an open stream, and otherwise when it asks for the task's
// result. ServerRequest returns false if the request is not about a task.
func (s *Tasks) ServerRequest(u *pool.Server, q *upstream.ServerRequest) bool {
	x := s.byServer(u, wire.RelatedTask(q.Params))
	if x == nil {
		return false
	}
	t := x.origin
	switch {
	case !session.CheckCapability(t.Peer, q):
		return true
	case t.Peer.Rev.InputRequired:
		x.addInput(q)
		return true
	}
	to := x.stream()
	if push, ok := to.(*events.Push); to == nil || ok && !push.Listening() {
		x.queueInput(q)
		return true
	}
	s.Ask(t.Client, to, u, q)
	return true
}

// join adds the stream of a client that waits for the result, and sends the server's pending
// requests on it.
func (s *Tasks) join(x *Task, here spec.Stream) {
	for _, q := range x.join(here) {
		s.Ask(x.origin.Client, here, x.Upstream, q)
	}
}

// ForClient prepares the params of a server's request for the client. If the request is about a
// task, it replaces the server's task ID with the proxy's task ID, and also returns the server's
// task ID. Otherwise, the second result is "".
func (s *Tasks) ForClient(u *pool.Server, params []byte) (changed []byte, theirs string) {
	if x := s.byServer(u, wire.RelatedTask(params)); x != nil {
		return wire.RelateTask(params, x.id), x.theirs
	}
	return params, ""
}

// inputRequests returns the server's unanswered requests as the inputRequests member of a task
// (2026-07-28), or nil if all have been answered.
func (s *Tasks) inputRequests(x *Task) []byte {
	open := x.openInputs()
	if len(open) == 0 {
		return nil
	}
	var requests rawjson.Object
	for _, in := range open {
		params, _ := s.ForClient(x.Upstream, x.Upstream.WithServerName(in.request.Params))
		requests = requests.Raw(in.key, spec.Input(in.request.Method, params))
	}
	return requests.Bytes()
}

// update forwards the inputResponses of a tasks/update request to the server. It ignores a response
// if no open request has the same key.
func (x *Task) update(responses []byte) {
	rawjson.Members(responses, func(key, response []byte, _ int) bool {
		if q := x.takeInput(string(key)); q != nil {
			q.Result(wire.RelateTask(response, x.theirs))
		}
		return true
	})
}
