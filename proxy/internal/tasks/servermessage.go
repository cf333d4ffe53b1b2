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
// (2025-11-25), notifications/tasks (2026-07-28), or a progress or log message of a task. The
// notification can arrive on any stream. Notification returns false if the notification is not
// about a task. Only the client that owns the task receives it. Notification must not block.
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

// ServerRequest handles a server's request that belongs to a task (elicitation/create,
// sampling/createMessage or roots/list with related-task in its _meta). The request can arrive on
// any stream. ServerRequest returns false if the request does not belong to a task. If the client
// cannot be reached now, the client is asked when it waits for the result.
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

// join adds the stream of a client that waits for the result. It sends the server's pending
// requests on this stream.
func (s *Tasks) join(x *Task, here spec.Stream) {
	for _, q := range x.join(here) {
		s.Ask(x.origin.Client, here, x.Upstream, q)
	}
}

// ForClient returns the params of a server's request with the task ID that clients know instead of
// the server's own. It also returns the server's own task ID, which is empty if the request does
// not belong to a task.
func (s *Tasks) ForClient(u *pool.Server, params []byte) (changed []byte, theirs string) {
	if x := s.byServer(u, wire.RelatedTask(params)); x != nil {
		return wire.RelateTask(params, x.id), x.theirs
	}
	return params, ""
}

// inputRequests returns the unanswered requests of the server as the value of a task's member
// inputRequests (2026-07-28). It returns nil if all requests have been answered.
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

// update forwards the inputResponses of a tasks/update request to the server. It ignores responses
// to requests that are not open.
func (x *Task) update(responses []byte) {
	rawjson.Members(responses, func(key, response []byte, _ int) bool {
		if q := x.takeInput(string(key)); q != nil {
			q.Result(wire.RelateTask(response, x.theirs))
		}
		return true
	})
}
