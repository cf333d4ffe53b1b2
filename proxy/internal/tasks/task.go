package tasks

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Task is a call that goes on after its answer: the server has answered
// tools/call with a task (CreateTaskResult). The call passed the gate once, and is
// in flight until the end of the task is known. Clients know the task by an id of
// ours, which says nothing to clients of other sessions.
type Task struct {
	id       string
	theirs   string // taskId of the server
	Upstream *pool.Server
	rev      *rev.Rev // in which the server made it
	origin   Origin
	Ticket   *admission.Ticket
	token    int64 // progressToken that the server has; 0: none
	made     time.Time

	settling sync.Mutex    // held while the gate is told how it ended
	settled  atomic.Bool   // the gate knows how it ended
	lost     atomic.Bool   // its outcome is unknown, and nobody polls it any more
	orphan   atomic.Bool   // its session has ended
	checking atomic.Bool   // its status is being asked for, since the server announced one
	Over     chan struct{} // closed when it is settled or lost

	mu      sync.Mutex
	object  []byte // as the server showed it last, under our id
	about   wire.Task
	asked   time.Time                 // when the server last said how it stands
	streams []spec.Stream             // of clients that wait for the result (tasks/result)
	waiting []*upstream.ServerRequest // requests of the server, for a client that cannot be reached yet
	inputs  []taskInput               // oldest first
	asks    int                       // how many of these there were
}

// A taskInput is a request of the server that is shown as one of the inputRequests of the
// task (2026-07-28).
type taskInput struct {
	key     string
	request *upstream.ServerRequest
}

// An Origin is what a task keeps of its call: the session, client and tool, without the
// stream and the arguments.
type Origin struct {
	Session *session.Session
	State   *session.Session // whose nets have decided
	Tool    string           // canonical
	Since   time.Time
	Client  *session.Client
	Peer    session.Peer
	Meta    wire.Meta // the progress token only
}

// owner returns the session that the task belongs to.
func (x *Task) owner() *session.Session { return x.origin.Session }

// emulated reports whether the client, of revision 2026-07-28, is shown a task of
// 2025-11-25 in the form of its own revision.
func (x *Task) emulated() bool { return x.origin.Peer.Rev.TaskExtension && !x.rev.TaskExtension }

// expired reports whether the ttl of the task has passed, so that the server may
// have forgotten it.
func (x *Task) expired(now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.about.TTL > 0 && now.After(x.made.Add(x.about.TTL))
}

// Finished reports whether nothing more happens to the task.
func (x *Task) Finished() bool { return x.settled.Load() || x.lost.Load() }

// IsSettled reports whether the gate knows how the task ended.
func (x *Task) IsSettled() bool { return x.settled.Load() }

// IsLost reports whether the outcome of the task stays unknown, as far as is known.
func (x *Task) IsLost() bool { return x.lost.Load() && !x.settled.Load() }

// set stores the task as the server shows it. It returns the task under the proxy's id,
// and whether the status has changed.
func (x *Task) set(object []byte, about wire.Task, now time.Time) (ours []byte, changed bool) {
	ours = wire.RenameTask(object, x.id)
	x.mu.Lock()
	defer x.mu.Unlock()
	changed = x.about.Status != about.Status
	x.object, x.about, x.asked = ours, about, now
	x.about.Outcome = nil
	return ours, changed
}

// shown returns the task as the server showed it last, under our id.
func (x *Task) shown() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.object
}

// NextPoll returns how long to wait before the next tasks/get: the pollInterval of
// the server, within bounds, and longer after misses.
func (x *Task) NextPoll(misses int, now time.Time) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	every := usualPoll
	if x.about.Poll > 0 {
		every = min(max(x.about.Poll, FastPoll), slowPoll)
	}
	if misses > 0 {
		every = min(every<<min(misses, 4), slowPoll)
	}
	return x.asked.Add(every).Sub(now)
}

// missed notes a tasks/get without a usable answer.
func (x *Task) missed(now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = now
}

// lockSettling waits until nobody else settles the task, and returns the function that ends
// the caller's turn.
func (x *Task) lockSettling() (unlock func()) {
	x.settling.Lock()
	return x.settling.Unlock
}

// ends reports whether o is new to the gate: the first outcome, or the first known one.
func (x *Task) ends(o gate.Outcome) bool {
	return !x.settled.Load() && (!x.lost.Load() || o != gate.Unknown)
}

// end notes that the gate knows the outcome. It returns the requests of the server
// that are still open, and whether the task was under way until now.
func (x *Task) end(o gate.Outcome) (open []*upstream.ServerRequest, first bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	first = !x.Finished()
	x.settled.Store(o != gate.Unknown) // before lost, lest the task seem to be under way again
	x.lost.Store(o == gate.Unknown)
	open = x.waiting
	for _, in := range x.inputs {
		open = append(open, in.request)
	}
	x.waiting, x.inputs = nil, nil
	return open, first
}

// stream returns the stream to the client of the task: that of its tasks/result, or else
// that of its session.
func (x *Task) stream() spec.Stream {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.streams); n > 0 {
		return x.streams[n-1]
	}
	return x.origin.Client.Out
}

// join adds a stream on which the client waits for the result. It returns the requests of
// the server that have waited for one.
func (x *Task) join(s spec.Stream) (waiting []*upstream.ServerRequest) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.streams = append(x.streams, s)
	waiting, x.waiting = x.waiting, nil
	return waiting
}

// Leave removes a stream that join has added.
func (x *Task) Leave(s spec.Stream) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := slices.Index(x.streams, s); i >= 0 {
		x.streams = slices.Delete(x.streams, i, i+1)
	}
}

// hold keeps a request of the server until the client can be reached.
func (x *Task) hold(q *upstream.ServerRequest) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiting = pool.Unanswered(x.waiting)
	if len(x.waiting) >= spec.MaxInputs || x.settled.Load() {
		q.Refuse(spec.CodeInternal, "too many requests wait for the client")
		return
	}
	x.waiting = append(x.waiting, q)
}

// addInput keeps a request of the server, to be shown as one of the inputRequests.
func (x *Task) addInput(q *upstream.ServerRequest) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.inputs) >= spec.MaxInputs || x.settled.Load() {
		q.Refuse(spec.CodeInternal, "too many requests wait for the client")
		return
	}
	x.asks++
	x.inputs = append(x.inputs, taskInput{"request-" + strconv.Itoa(x.asks), q})
}

// openInputs returns the inputs that have no answer, oldest first.
func (x *Task) openInputs() []taskInput {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.inputs = slices.DeleteFunc(x.inputs, func(in taskInput) bool { return in.request.Context().Err() != nil })
	return slices.Clone(x.inputs)
}

// takeInput removes and returns the input whose response has come; nil: it is not open.
func (x *Task) takeInput(key string) *upstream.ServerRequest {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := slices.IndexFunc(x.inputs, func(in taskInput) bool { return in.key == key })
	if i < 0 {
		return nil
	}
	q := x.inputs[i].request
	x.inputs = slices.Delete(x.inputs, i, i+1)
	return q
}
