package tasks

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Serve serves clients' tasks/get, tasks/result, tasks/cancel and tasks/update requests.
func (s *Tasks) Serve(ctx context.Context, q session.Request) ([]byte, error) {
	a, method := q.Peer(), q.Message.Method
	if err := s.refuse(a, method); err != nil {
		return nil, err
	}
	x := s.find(q.Client.Session, rawjson.StringAt(q.Message.Params, "taskId"))
	switch {
	case x == nil || x.rev.TaskExtension && !a.Rev.TaskExtension:
		return nil, wire.NewFault(wire.CodeInvalidParams, spec.NoTask)
	case a.Rev.TaskExtension && !x.rev.TaskExtension:
		return s.emulate(ctx, x, q.Message)
	}
	if x.Upstream.Rev() != x.rev {
		return nil, wire.NewFault(wire.CodeInvalidParams, spec.NoTask)
	}
	r := s.newRequest(ctx, pool.NewRelayedRequest(q, x.Upstream), x)
	if method == "tasks/result" {
		here := session.OutboxStream{Outbox: r.Outbox}
		s.join(x, here)
		defer x.Leave(here)
	}
	return r.Serve(ctx)
}

// newRequest completes r, a client's request about the task x, and returns it. The request to the
// server contains the server's task ID. The outcome of the task is recorded before the client
// receives the response. The policies are not checked again, because they have already allowed the
// tool call.
func (s *Tasks) newRequest(ctx context.Context, r *pool.RelayedRequest, x *Task) *pool.RelayedRequest {
	r.Name, r.Patient = x.theirs, r.Message.Method == "tasks/result"
	r.Change = func(params []byte) []byte { return wire.RenameTask(params, x.theirs) }
	r.Amend = func(result []byte) []byte { return s.succeeded(ctx, x, r.Message.Method, result) }
	r.Refused = func() { s.failed(ctx, x, r.Message.Method) }
	s.Attach(r)
	return r
}

// Attach makes the proxy handle the notifications and requests that the server sends during r. If
// they are about a task, they go to the task's client. Otherwise, they go to the client of r.
func (s *Tasks) Attach(r *pool.RelayedRequest) {
	r.OnNotification = func(method string, params []byte) {
		if !s.Notification(r.Upstream, method, params) {
			r.Notify(method, params)
		}
	}
	r.OnRequest = func(q *upstream.ServerRequest) {
		if !s.ServerRequest(r.Upstream, q) && r.CheckCapability(q) {
			s.Ask(r.Client, session.OutboxStream{Outbox: r.Outbox}, r.Upstream, q)
		}
	}
}

// refuse returns an error if the method does not exist in the client's revision.
func (s *Tasks) refuse(a session.Peer, method string) error {
	var keys []string
	if !a.Rev.TaskExtension && (method == "tasks/list" || method == "tasks/cancel") {
		keys = []string{"tasks", method[len("tasks/"):]}
	}
	switch {
	case a.Rev.Lacks(method) || !s.anyOffers(a.Rev, keys...):
		return wire.NewFault(wire.CodeMethodNotFound, "Method not found: no upstream has "+method+" for clients of this revision")
	case a.Rev.TaskExtension && !a.TakesTasks():
		return spec.LacksTasks()
	}
	return nil
}

// succeeded handles the result of a client's request about the task: it updates the task, and
// returns the result in the form sent to the client.
func (s *Tasks) succeeded(ctx context.Context, x *Task, method string, result []byte) []byte {
	if method == "tasks/result" { // the result of a tool is not a task object, even if it has a taskId member
		s.fetched(x, result)
		return wire.RelateTask(result, x.id)
	}
	// Since revision 2026-07-28, the tasks/cancel result does not contain the task.
	if _, shown := rawjson.Member(result, "taskId"); shown && method != "tasks/update" {
		if about, err := s.read(x, result); err != nil {
			s.Life.Log.Warn("cannot read a task", "upstream", x.Upstream.Config.Name, "call", x.Ticket.Number, "error", err)
		} else {
			s.Reached(ctx, x, about)
		}
	}
	return wire.RelateTask(wire.RenameTask(result, x.id), x.id)
}

// failed is called when the server has answered a request about the task with an error. It
// determines the reason: the server may no longer know the task, or the error may be the result of
// a task that has ended.
func (s *Tasks) failed(ctx context.Context, x *Task, method string) {
	if method != "tasks/result" && method != "tasks/get" {
		return
	}
	about, err := s.get(x)
	switch {
	case errors.Is(err, errTaskGone):
		s.end(x, gate.Unknown, nil, "task lost")
	case err != nil: // the goroutine that polls the task will ask again
	case about.Status == wire.TaskCompleted && method == "tasks/result":
		s.end(x, gate.Failure, nil, "task result")
	default:
		s.Reached(ctx, x, about)
	}
}

// List serves tasks/list (2025-11-25). It lists the session's tasks on all servers, oldest first.
// It never requests the servers' own lists, which may contain tasks of other sessions.
func (s *Tasks) List(q session.Request) ([]byte, error) {
	if err := s.refuse(q.Peer(), q.Message.Method); err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(s.inSession(q.Client.Session), func(x *Task) bool { return x.rev.TaskExtension })
	from, ok := afterCursor(q.Message.Params, all)
	if !ok {
		return nil, wire.NewFault(wire.CodeInvalidParams, "Unknown cursor")
	}
	page := all[from:min(from+spec.TaskPageSize, len(all))]
	result := rawjson.Object{}.Raw("tasks", rawjson.Array(s.fetchAll(page)...))
	if from+len(page) < len(all) {
		result = result.String("nextCursor", strconv.FormatUint(page[len(page)-1].Ticket.Number, 10))
	}
	return result.Bytes(), nil
}

// afterCursor returns the index where the requested page begins, or false if the cursor is invalid.
// A cursor is a call number. Because call numbers only increase, a cursor remains valid when tasks
// are dropped.
func afterCursor(params []byte, all []*Task) (from int, ok bool) {
	lit, paged := rawjson.Member(params, "cursor")
	if !paged {
		return 0, true
	}
	text, isString := rawjson.String(lit)
	after, err := strconv.ParseUint(text, 10, 64)
	if !isString || err != nil {
		return 0, false
	}
	for from < len(all) && all[from].Ticket.Number <= after {
		from++
	}
	return from, true
}

// fetchAll fetches the latest task objects from the servers. It leaves out tasks that no longer
// exist. For a task that cannot be fetched, it returns the object received last.
func (s *Tasks) fetchAll(page []*Task) [][]byte {
	objects := make([][]byte, len(page))
	var all sync.WaitGroup
	for i, x := range page {
		all.Go(func() {
			about, err := s.get(x)
			if errors.Is(err, errTaskGone) {
				return
			}
			if err == nil {
				s.Reached(s.Life.Ctx, x, about)
			}
			objects[i] = x.shown()
		})
	}
	all.Wait()
	return slices.DeleteFunc(objects, func(object []byte) bool { return object == nil })
}

// Clients that use revision 2026-07-28 can name tasks in subscriptions/listen (taskIds). They then
// receive notifications/tasks with the content of a tasks/get result.

// Agree subscribes to the tasks in the filter that belong to the client. It returns the IDs of
// these tasks as a JSON array.
func (s *Tasks) Agree(c *session.Client, sub *session.Subscription, filter []byte) []byte {
	wanted, _ := rawjson.Member(filter, "taskIds")
	rawjson.Elements(wanted, func(value []byte, _ int) bool {
		id, _ := rawjson.String(value)
		if s.find(c.Session, id) != nil {
			sub.Tasks = append(sub.Tasks, id)
		}
		return len(sub.Tasks) < MaxTasks
	})
	return rawjson.StringArray(sub.Tasks)
}
