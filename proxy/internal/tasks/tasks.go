// Package tasks tracks the tasks that servers create for calls, in the form of revision 2025-11-25
// (SEP-1686) or 2026-07-28 (SEP-2663). The messages about tasks are tasks/get, tasks/result,
// tasks/cancel, tasks/list, tasks/update, notifications/tasks/status and notifications/tasks.
//
// [Tasks] holds all tasks and serves clients' requests about them; a [Task] is a single task. The
// proxy assigns its own ID to each task, and translates between its own and the server's IDs. If
// the client uses revision 2026-07-28 and the server uses 2025-11-25, the package emulates the form
// that the client expects (detail.go). In the opposite case, package pipeline hides the task from
// the client.
//
// # Goroutines
//
// Each task has a goroutine that polls it until it ends, no matter what its client does. A task
// emulated for a client of revision 2026-07-28 has another goroutine, which waits for the response
// to tasks/result. Both goroutines end when the task ends or the proxy stops.
//
// # Locks
//
// Task.settling is held while the outcome is reported to the gate, so that it is reported only once.
// Task.mu guards the changing state of a task, and taskTable.mu guards the table of tasks.
// taskTable.mu must not be locked while Task.mu is held.
//
// # Invariants
//
// The outcome of a task is reported only once to the gate, which decides on tool calls. As the only
// exception, a known outcome can replace an unknown one. The outcome is reported before any client
// learns how the task ended, unless the proxy's own request for the outcome fails. A client can
// access only the tasks of its own session.
package tasks

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/quota"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Tasks tracks the tasks that servers create for calls. In revision 2025-11-25 (SEP-1686), the
// client asks for a task (params.task) and fetches its result with tasks/result. In the extension
// io.modelcontextprotocol/tasks of revision 2026-07-28 (SEP-2663), the server may create a task for
// any client that supports tasks, and the task contains the result. Tasks is safe for concurrent
// use.
type Tasks struct {
	taskTable
	Options
}

// Options holds the parts of the proxy used by [Tasks].
type Options struct {
	Life     *lifetime.Lifetime
	Append   func(e audit.Event) error // appends an event to the audit log
	Servers  func() []*pool.Server     // returns the shared connections to the servers
	Sessions *session.Sessions

	// Settle records the outcome of a call that the server has answered with a task, and updates
	// the nets. result is the task's result if the task succeeded.
	Settle func(of Origin, ticket *admission.Ticket, o gate.Outcome, result []byte, by string)
	// Ask forwards a server's request to a client, and the client's response to the server.
	Ask func(c *session.Client, s spec.Stream, u *pool.Server, q *upstream.ServerRequest)
}

// New returns a Tasks without tasks.
func New(o Options) *Tasks { return &Tasks{Options: o} }

// Limits on the number of known tasks. Finished tasks are dropped to make room.
const (
	MaxTasks    = 128    // maximum number of tasks per session
	MaxTasksAll = 10_000 // maximum number of tasks in total
)

// A serverKey identifies a task of a server, either by its taskId or by the progressToken of the
// call.
type serverKey struct {
	upstream *pool.Server
	id       string
	token    int64
}

// A taskTable holds a limited number of tasks. It finds a task by session and the proxy's ID, by
// server and the server's ID, or by server and progressToken. mu guards the other fields.
type taskTable struct {
	mu        sync.Mutex
	byID      map[string]*Task
	theirs    map[serverKey]*Task          // keyed by the server's taskId and, if the call has one, by the progressToken
	bySession map[*session.Session][]*Task // tasks per session, oldest first
	places    map[*session.Session]int     // number of slots reserved for the in-flight calls of each session; a session without reserved slots has no entry
	placesAll int
}

var (
	errTaskTwice    = errors.New("it is the id of another task")
	errTooManyTasks = errors.New("too many tasks are running")
)

// Reserve reserves a slot for the task that a call may create. It must be called before the call is
// sent, because a task cannot be refused once the call has run. Reserve drops finished tasks of the
// session if they have expired or a slot is needed. It returns false if no slot is free. If several
// principals use the proxy, it also returns false if the principal already has its fair share of
// the slots. After success, the caller must free the slot with [taskTable.Release] or use it with
// taskTable.add.
func (s *taskTable) Reserve(of *session.Session, several bool, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.makeRoom(of, now) || several && !quota.Fair(s.takenSlots(of.Principal), s.freeSlots()) {
		return false
	}
	if s.places == nil {
		s.places = map[*session.Session]int{}
	}
	s.places[of]++
	s.placesAll++
	return true
}

// Release frees the slot reserved for a call that did not become a task.
func (s *taskTable) Release(of *session.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releaseSlot(of)
}

// releaseSlot frees one of the session's reserved slots. The caller must hold mu.
func (s *taskTable) releaseSlot(of *session.Session) {
	s.placesAll--
	if s.places[of]--; s.places[of] == 0 {
		delete(s.places, of)
	}
}

// makeRoom drops finished tasks of the session if they have expired or a slot is needed, and
// reports whether a slot is free. The caller must hold mu.
func (s *taskTable) makeRoom(of *session.Session, now time.Time) bool {
	taken := func() int { return len(s.bySession[of]) + s.places[of] }
	for _, x := range slices.Clone(s.bySession[of]) {
		if x.Finished() && (x.expired(now) || taken() >= MaxTasks) {
			s.drop(x)
		}
	}
	return taken() < MaxTasks && s.freeSlots() > 0
}

// freeSlots returns the total number of free slots.
func (s *taskTable) freeSlots() int { return MaxTasksAll - len(s.byID) - s.placesAll }

// takenSlots counts the tasks and reserved slots of a principal.
func (s *taskTable) takenSlots(principal string) (n int) {
	for of, list := range s.bySession {
		if of.Principal == principal {
			n += len(list)
		}
	}
	for of, places := range s.places {
		if of.Principal == principal {
			n += places
		}
	}
	return n
}

// add adds x. If a slot was reserved for x, add uses it. It returns an error if there are too many
// tasks. It also returns an error if another task has the same server ID, because the two could not
// be distinguished.
func (s *taskTable) add(x *Task, reserved bool, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reserved {
		s.releaseSlot(x.owner())
	}
	key := serverKey{upstream: x.Upstream, id: x.theirs}
	switch {
	case s.theirs[key] != nil:
		return errTaskTwice
	case !s.makeRoom(x.owner(), now):
		return errTooManyTasks
	}
	if s.byID == nil {
		s.byID, s.theirs, s.bySession = map[string]*Task{}, map[serverKey]*Task{}, map[*session.Session][]*Task{}
	}
	s.byID[x.id], s.theirs[key] = x, x
	s.bySession[x.owner()] = append(s.bySession[x.owner()], x)
	if x.token != 0 {
		s.theirs[serverKey{upstream: x.Upstream, token: x.token}] = x
	}
	return nil
}

// drop removes a task from the table. The caller must hold mu.
func (s *taskTable) drop(x *Task) {
	delete(s.byID, x.id)
	delete(s.theirs, serverKey{upstream: x.Upstream, id: x.theirs})
	delete(s.theirs, serverKey{upstream: x.Upstream, token: x.token})
	rest := slices.DeleteFunc(s.bySession[x.owner()], func(other *Task) bool { return other == x })
	if len(rest) == 0 {
		delete(s.bySession, x.owner())
		return
	}
	s.bySession[x.owner()] = rest
}

// find returns the session's task that clients know by the given ID, or nil.
func (s *taskTable) find(of *session.Session, id string) *Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.byID[id]; x != nil && x.owner() == of {
		return x
	}
	return nil
}

// byServer returns the task that the server u knows by the given ID, or nil.
func (s *taskTable) byServer(u *pool.Server, id string) *Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.theirs[serverKey{upstream: u, id: id}]
}

// byToken returns the task whose progress notifications from the server u contain the given token,
// or nil.
func (s *taskTable) byToken(u *pool.Server, token int64) *Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.theirs[serverKey{upstream: u, token: token}]
}

// inSession returns the session's tasks, oldest first.
func (s *taskTable) inSession(session *session.Session) []*Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bySession[session])
}

// Forget drops the tasks of a session that has ended. Unfinished tasks are still polled, because
// nets shared with other sessions may be waiting for their outcomes.
func (s *taskTable) Forget(of *session.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range slices.Clone(s.bySession[of]) {
		x.orphan.Store(true)
		if x.Finished() {
			s.drop(x)
		}
	}
}

// dropOrphan drops the finished task x if its session has also ended.
func (s *taskTable) dropOrphan(x *Task) {
	if !x.orphan.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[x.id] == x {
		s.drop(x)
	}
}

// Busy reports whether the server is working on a task.
func (s *taskTable) Busy(u *pool.Server) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.byID {
		if x.Upstream == u && !x.Finished() {
			return true
		}
	}
	return false
}

// MakesTasks reports whether the server declares that it creates tasks for calls.
func MakesTasks(u *pool.Server) bool {
	s := u.State()
	if u.Rev().TaskExtension {
		return spec.Declares(s.Capabilities, "extensions", spec.TasksExtension)
	}
	return spec.Declares(s.Capabilities, "tasks", "requests", "tools", "call")
}

// anyOffers reports whether any connected server creates tasks that clients of the given revision
// can use. If keys are given, they are the path of a capability that the server must also declare.
// Clients of revision 2026-07-28 can also use the tasks of servers of revision 2025-11-25.
func (s *Tasks) anyOffers(to *rev.Rev, keys ...string) bool {
	return slices.ContainsFunc(s.Servers(), func(u *pool.Server) bool {
		is := u.State()
		return is.Phase == upstream.Up && MakesTasks(u) && (to.TaskExtension || !u.Rev().TaskExtension) && spec.Declares(is.Capabilities, keys...)
	})
}

// WithCapability adds the tasks capability to the capabilities in o, in the form required by the
// peer's revision. It adds nothing if that revision has no tasks or no server supports them.
func (s *Tasks) WithCapability(o rawjson.Object, a session.Peer) rawjson.Object {
	switch {
	case !s.anyOffers(a.Rev):
	case a.Rev.TaskExtension:
		o = o.Raw("extensions", []byte(`{"`+spec.TasksExtension+`":{}}`))
	case a.Protocol >= spec.TasksSince:
		var tasks rawjson.Object
		for _, what := range [...]string{"list", "cancel"} {
			if s.anyOffers(a.Rev, "tasks", what) {
				tasks = tasks.Raw(what, []byte(`{}`))
			}
		}
		o = o.Raw("tasks", tasks.Raw("requests", []byte(`{"tools":{"call":{}}}`)).Bytes())
	}
	return o
}

// WithTasks adds the tasks extension to a client's capabilities.
func WithTasks(capabilities []byte) []byte {
	return wire.AppendStamped(nil, capabilities, spec.TaskCapabilities())
}
