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

// A Task is a tool call that the server has answered with a task (CreateTaskResult). The gate,
// which decides on tool calls, considers the call in flight until the outcome of the task is known.
// Clients know the task by an ID assigned by the proxy. Only clients of the same session can use
// this ID. mu guards the fields below it.
type Task struct {
	id       string
	theirs   string // the server's own taskId
	Upstream *pool.Server
	rev      *rev.Rev // the server's revision when the task was created
	origin   Origin
	Ticket   *admission.Ticket
	token    int64 // progressToken sent to the server; 0 if none
	made     time.Time

	settling sync.Mutex    // held while the outcome is reported to the gate
	settled  atomic.Bool   // whether the gate knows an outcome other than "unknown"
	lost     atomic.Bool   // whether polling has stopped although the outcome is unknown
	orphan   atomic.Bool   // whether the task's session has ended
	checking atomic.Bool   // whether a status announced by the server is being checked
	Over     chan struct{} // closed when the outcome is known or polling has stopped

	mu      sync.Mutex
	object  []byte // latest task object from the server, with the proxy's ID
	about   wire.Task
	asked   time.Time                 // time when the latest task object arrived or the latest poll failed, whichever is later
	streams []spec.Stream             // streams of clients waiting for the result (tasks/result)
	waiting []*upstream.ServerRequest // requests from the server, kept until the client asks for the task's result
	inputs  []taskInput               // the server's requests shown to clients as inputRequests, oldest first
	asks    int                       // number of requests ever added to inputs; used for their keys
}

// A taskInput is a server's request shown to clients as an entry in the task's inputRequests
// (2026-07-28).
type taskInput struct {
	key     string
	request *upstream.ServerRequest
}

// An Origin holds the information about a call that its task needs after the call has been
// answered: the session, the client and the tool, but not the stream or the arguments.
type Origin struct {
	Session *session.Session
	State   *session.Session // session whose nets allowed the call
	Tool    string           // name of the tool in rules, of the form upstream.tool
	Since   time.Time
	Client  *session.Client
	Peer    session.Peer
	Meta    wire.Meta // the call's _meta, reduced to its progress token
}

// owner returns the session whose clients can access the task.
func (x *Task) owner() *session.Session { return x.origin.Session }

// emulated reports whether the server's task, in the form of revision 2025-11-25, is shown to the
// client in the form of revision 2026-07-28.
func (x *Task) emulated() bool { return x.origin.Peer.Rev.TaskExtension && !x.rev.TaskExtension }

// expired reports whether the task's ttl has passed. The server may then have deleted the task.
func (x *Task) expired(now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.about.TTL > 0 && now.After(x.made.Add(x.about.TTL))
}

// Finished reports whether the task's outcome is known or polling has stopped without an outcome.
func (x *Task) Finished() bool { return x.settled.Load() || x.lost.Load() }

// IsSettled reports whether the gate knows how the task ended.
func (x *Task) IsSettled() bool { return x.settled.Load() }

// IsLost reports whether polling has stopped although the task's outcome is still unknown.
func (x *Task) IsLost() bool { return x.lost.Load() && !x.settled.Load() }

// set stores a task object from the server. It returns the object with the proxy's ID. It also
// reports whether the status has changed.
func (x *Task) set(object []byte, about wire.Task, now time.Time) (ours []byte, changed bool) {
	ours = wire.RenameTask(object, x.id)
	x.mu.Lock()
	defer x.mu.Unlock()
	changed = x.about.Status != about.Status
	x.object, x.about, x.asked = ours, about, now
	x.about.Outcome = nil
	return ours, changed
}

// shown returns the latest task object from the server, with the proxy's ID.
func (x *Task) shown() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.object
}

// NextPoll returns the time to wait before the next tasks/get request. The interval between
// requests is the server's pollInterval, within limits, or a default if the server gives none.
// misses is the number of consecutive failures. Failures make the interval longer.
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

// countMissed delays the next poll, because a tasks/get request got no usable response.
func (x *Task) countMissed(now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = now
}

func (x *Task) lockSettling() (unlock func()) {
	x.settling.Lock()
	return x.settling.Unlock
}

// mustReport reports whether the outcome o must be reported to the gate. This is the case if no
// outcome has been reported yet, or if o is known and only an unknown outcome has been reported.
func (x *Task) mustReport(o gate.Outcome) bool {
	return !x.settled.Load() && (!x.lost.Load() || o != gate.Unknown)
}

// end records that the outcome o has been reported to the gate. It returns the server's unanswered
// requests about the task. It also reports whether o is the task's first outcome.
func (x *Task) end(o gate.Outcome) (open []*upstream.ServerRequest, first bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	first = !x.Finished()
	x.settled.Store(o != gate.Unknown) // must be stored first, so that a finished task never seems unfinished
	x.lost.Store(o == gate.Unknown)
	open = x.waiting
	for _, in := range x.inputs {
		open = append(open, in.request)
	}
	x.waiting, x.inputs = nil, nil
	return open, first
}

// stream returns the stream for messages to the task's client. If a request is waiting for the
// task's result, this is the stream of the latest such request. Otherwise, it is the client's
// stream for messages that belong to no request, or nil if the client has no such stream.
func (x *Task) stream() spec.Stream {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.streams); n > 0 {
		return x.streams[n-1]
	}
	return x.origin.Client.Out
}

// join adds the stream of a client waiting for the result, and returns the server's requests that
// were waiting for a stream.
func (x *Task) join(s spec.Stream) (waiting []*upstream.ServerRequest) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.streams = append(x.streams, s)
	waiting, x.waiting = x.waiting, nil
	return waiting
}

// Leave removes a stream added by join or Begin.
func (x *Task) Leave(s spec.Stream) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := slices.Index(x.streams, s); i >= 0 {
		x.streams = slices.Delete(x.streams, i, i+1)
	}
}

// queueInput stores a server's request until the client asks for the task's result. If too many are
// already stored, it refuses the request.
func (x *Task) queueInput(q *upstream.ServerRequest) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiting = pool.RemoveAnswered(x.waiting)
	if x.refuses(q, len(x.waiting)) {
		return
	}
	x.waiting = append(x.waiting, q)
}

// addInput adds a server's request to the inputRequests. If too many are open, it refuses the
// request.
func (x *Task) addInput(q *upstream.ServerRequest) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.refuses(q, len(x.inputs)) {
		return
	}
	x.asks++
	x.inputs = append(x.inputs, taskInput{"request-" + strconv.Itoa(x.asks), q})
}

// refuses reports whether a server's request must be refused, because the task's outcome is known
// or too many requests are already waiting for the client. In that case, it also responds with an
// error. The caller must hold mu.
func (x *Task) refuses(q *upstream.ServerRequest, waiting int) bool {
	switch {
	case x.settled.Load():
		q.Refuse(wire.CodeInternal, "the task has ended")
	case waiting >= spec.MaxInputs:
		q.Refuse(wire.CodeInternal, "too many requests are waiting for the client")
	default:
		return false
	}
	return true
}

// openInputs returns the unanswered inputs, oldest first.
func (x *Task) openInputs() []taskInput {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.inputs = slices.DeleteFunc(x.inputs, func(in taskInput) bool { return in.request.Context().Err() != nil })
	return slices.Clone(x.inputs)
}

// takeInput removes and returns the open input with the given key, or returns nil.
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

// Limits on the interval between the proxy's own tasks/get requests, regardless of the server's
// pollInterval. The proxy polls even if the client never does. Otherwise, the call could hold a
// net's token forever.
const (
	usualPoll = 5 * time.Second
	FastPoll  = 250 * time.Millisecond
	slowPoll  = time.Minute
	MaxMisses = 10 // maximum number of consecutive failed tasks/get requests; after one more, polling stops
)
