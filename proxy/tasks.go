package proxy

import (
	"log/slog"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// tasks follows the tasks that servers make of calls, in both forms: core tasks of
// 2025-11-25, where the client asks for one (params.task) and fetches its result by
// tasks/result, and the extension io.modelcontextprotocol/tasks of 2026-07-28,
// where the server makes one for any client that takes them and shows the result
// in the task (SEP-1686, SEP-2663). Each task is polled to its end, whatever its
// client does, and settled at the gate once.
type tasks struct {
	taskTable
	taskOptions
}

// taskOptions are what tasks use of the rest of the proxy.
type taskOptions struct {
	life     *life
	now      func() time.Time
	log      *slog.Logger
	append   func(e audit.Event) error // puts it on record
	servers  func() []*upstreamState   // those that sessions share
	sessions *sessions

	// settle records the outcome of the call of a task and tells the nets.
	settle func(of origin, ticket *admission.Ticket, o gate.Outcome, by string)
	// ask puts a request of a server to a client, and the answer back.
	ask func(c *client, s stream, u *upstreamState, q *upstream.ServerRequest)
}

func newTasks(o taskOptions) *tasks { return &tasks{taskOptions: o} }

// A taskHandle is the task of a call with the result (CreateTaskResult) by which
// the client of the call is told of it.
type taskHandle struct {
	task   *task
	result []byte
	about  wire.Task // as the result shows it
}

// A newTask is a call that its server has answered with a task.
type newTask struct {
	origin   origin
	upstream *upstreamState
	rev      *rev.Rev
	ticket   *admission.Ticket
	token    int64
	reserved bool   // a place in the table is
	stream   stream // where the client waits for the result from the first; nil: it does not
	result   []byte // of the call
}

// begin keeps the task of a call and polls it. It must be called before anything
// can be read that the server says of the task.
func (s *tasks) begin(n newTask) (*taskHandle, error) {
	object := n.result
	if !n.rev.TaskExtension {
		object, _ = within(n.result, "task")
	}
	about, err := wire.ParseTask(object)
	if err != nil {
		if n.reserved {
			s.release(n.origin.session)
		}
		return nil, err
	}
	now := s.now()
	x := &task{
		id: randomID(""), theirs: about.ID, upstream: n.upstream, rev: n.rev,
		origin: n.origin, ticket: n.ticket, token: n.token, made: now, over: make(chan struct{}),
	}
	if n.stream != nil {
		x.streams = []stream{n.stream}
	}
	h := &taskHandle{task: x, about: about}
	h.result, _ = x.set(object, about, now)
	if err := s.add(x, n.reserved, now); err != nil {
		return nil, err
	}
	switch {
	case x.emulated():
		h.result = extensionTask(n.result, h.result)
	case !n.rev.TaskExtension:
		h.result = wire.RelateTask(wire.ReplaceMember(nil, n.result, "task", h.result), x.id)
	}
	s.record(x)
	s.life.background(func() { s.poll(x) })
	if x.emulated() {
		s.life.background(func() { s.awaitResult(x) })
	}
	return h, nil
}

func (s *tasks) record(x *task) {
	s.log.Info("a call goes on as a task", "tool", x.origin.tool, "session", x.owner().id, "call", x.ticket.Number, "task", x.id)
	err := s.append(audit.Task{
		Time: x.made, Event: "task", Session: x.owner().id, Call: x.ticket.Number, Tool: x.origin.tool, Task: x.id,
	})
	if err != nil {
		s.log.Error("recording a task", "error", err)
	}
}
