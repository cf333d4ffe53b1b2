// Package tasks follows the tasks that servers make of calls (tasks/get, tasks/result,
// tasks/cancel, tasks/list, notifications/tasks/status), in the forms of both families of
// revisions. See SEP-1686 and SEP-2663.
package tasks

import (
	"log/slog"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Tasks follows the tasks that servers make of calls, in both forms: core tasks of
// 2025-11-25, where the client asks for one (params.task) and fetches its result by
// tasks/result, and the extension io.modelcontextprotocol/tasks of 2026-07-28,
// where the server makes one for any client that takes them and shows the result
// in the task (SEP-1686, SEP-2663). Each task is polled to its end, whatever its
// client does, and settled at the gate once.
type Tasks struct {
	taskTable
	Options
}

// Options are what Tasks uses of the rest of the proxy.
type Options struct {
	Life     *lifetime.Lifetime
	Now      func() time.Time
	Log      *slog.Logger
	Append   func(e audit.Event) error // puts it on record
	Servers  func() []*pool.Server     // those that sessions share
	Sessions *session.Sessions

	// Settle records the outcome of the call of a task and tells the nets; result is that
	// of a success.
	Settle func(of Origin, ticket *admission.Ticket, o gate.Outcome, result []byte, by string)
	// ask puts a request of a server to a client, and the answer back.
	Ask func(c *session.Client, s spec.Stream, u *pool.Server, q *upstream.ServerRequest)
}

// New returns Tasks that knows of no task.
func New(o Options) *Tasks { return &Tasks{Options: o} }

// A TaskHandle is the task of a call with the CreateTaskResult for its client.
type TaskHandle struct {
	Task   *Task
	Result []byte
	About  wire.Task // as the result shows it
}

// A NewTask is a call that its server has answered with a task.
type NewTask struct {
	Origin   Origin
	Upstream *pool.Server
	Rev      *rev.Rev
	Ticket   *admission.Ticket
	Token    int64
	Reserved bool        // a place in the table is
	Stream   spec.Stream // where the client waits for the result from the first; nil: it does not
	Result   []byte      // of the call
}

// Begin keeps the task of a call and polls it. The caller must call it before it reads
// anything else that the server says of the task.
func (s *Tasks) Begin(n NewTask) (*TaskHandle, error) {
	object := n.Result
	if !n.Rev.TaskExtension {
		object, _ = rawjson.MemberAt(n.Result, "task")
	}
	about, err := wire.ParseTask(object)
	if err != nil {
		if n.Reserved {
			s.Release(n.Origin.Session)
		}
		return nil, err
	}
	now := s.Now()
	x := &Task{
		id: lifetime.RandomID(""), theirs: about.ID, Upstream: n.Upstream, rev: n.Rev,
		origin: n.Origin, Ticket: n.Ticket, token: n.Token, made: now, Over: make(chan struct{}),
	}
	if n.Stream != nil {
		x.streams = []spec.Stream{n.Stream}
	}
	h := &TaskHandle{Task: x, About: about}
	h.Result, _ = x.set(object, about, now)
	if err := s.add(x, n.Reserved, now); err != nil {
		return nil, err
	}
	switch {
	case x.emulated():
		h.Result = extensionTask(n.Result, h.Result)
	case !n.Rev.TaskExtension:
		h.Result = wire.RelateTask(wire.ReplaceMember(nil, n.Result, "task", h.Result), x.id)
	}
	s.record(x)
	s.Life.Background(func() { s.poll(x) })
	if x.emulated() {
		s.Life.Background(func() { s.awaitResult(x) })
	}
	return h, nil
}

// record puts it on record that a call goes on as a task.
func (s *Tasks) record(x *Task) {
	s.Log.Info("a call goes on as a task", "tool", x.origin.Tool, "session", x.owner().ID, "call", x.Ticket.Number, "task", x.id)
	err := s.Append(audit.Task{
		Time: x.made, Event: "task", Session: x.origin.State.ID, Call: x.Ticket.Number, Tool: x.origin.Tool, Task: x.id,
	})
	if err != nil {
		s.Log.Error("recording a task", "error", err)
	}
}
