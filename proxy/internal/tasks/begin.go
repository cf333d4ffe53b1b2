package tasks

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Begin adds the task created for a call, and starts to poll it. It must be called before the proxy
// reads further messages about the task from the server.
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
	now := s.Life.Now()
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

// record adds an audit record of a call that continues as a task.
func (s *Tasks) record(x *Task) {
	s.Life.Log.Info("a call continues as a task", "tool", x.origin.Tool, "session", x.owner().ID, "call", x.Ticket.Number, "task", x.id)
	err := s.Append(audit.Task{
		Time: x.made, Event: "task", Session: x.origin.State.ID, Call: x.Ticket.Number, Tool: x.origin.Tool, Task: x.id,
	})
	if err != nil {
		s.Life.Log.Error("recording a task", "error", err)
	}
}

// A NewTask describes a call and the task that the server has created for it. It is the argument of
// [Tasks.Begin].
type NewTask struct {
	Origin   Origin
	Upstream *pool.Server
	Rev      *rev.Rev
	Ticket   *admission.Ticket
	Token    int64
	Reserved bool        // whether a slot for the task was reserved with Reserve
	Stream   spec.Stream // stream of the call if its client does not know about the task and waits for the result; otherwise nil
	Result   []byte      // result of the call; contains the task
}

// A TaskHandle holds a call's task and the CreateTaskResult for the client.
type TaskHandle struct {
	Task   *Task
	Result []byte
	About  wire.Task // members of the task object in Result
}

// extensionTask converts a CreateTaskResult of revision 2025-11-25 to the form of 2026-07-28.
func extensionTask(result, task []byte) []byte {
	members := rawjson.Object{}.String("resultType", "task")
	if meta, ok := rawjson.Member(result, "_meta"); ok {
		members = members.Raw("_meta", meta)
	}
	return wire.ExtensionTask(task, members)
}
