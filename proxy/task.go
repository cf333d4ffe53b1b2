package proxy

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Bounds of the tasks that are known. Those that are over make room for others.
const (
	maxTasks    = 128    // of one session
	maxTasksAll = 10_000 // of all
)

// A task is a call that goes on after its answer: the upstream has handed out
// the task for it. The call passed the gate once, and is in flight until the
// end of the task is known. Its client knows it by an id of ours, which says
// nothing to any other client.
type task struct {
	id       string
	theirs   string // as the upstream calls it
	upstream *upstreamState
	modern   bool // the upstream made it in the newer era
	origin   origin
	ticket   *gate.Ticket
	token    int64 // of the progress that the upstream tells; 0: none
	made     time.Time

	settling sync.Mutex  // held while the gate is told how it ended
	checking atomic.Bool // whether it has ended is being found out, for the upstream says so

	mu      sync.Mutex
	object  []byte // as the upstream showed it last, with our id
	about   wire.Task
	asked   time.Time                    // when the upstream last said how it stands
	settled bool                         // the gate knows how it ended
	lost    bool                         // its outcome is unknown, and nobody follows it any more
	orphan  bool                         // its session is gone
	streams []stream                     // on which its client waits for the result
	waiting []*upstream.Inquiry          // of the upstream, for a client that cannot be reached yet
	inputs  map[string]*upstream.Inquiry // shown to a client of the newer era
	asks    int                          // how many were shown
	over    chan struct{}                // closed when it is settled or lost
}

// owner is the session whose task it is.
func (x *task) owner() *session { return x.origin.client.session }

// expired reports whether the upstream may have forgotten the task.
func (x *task) expired(now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.about.TTL > 0 && now.After(x.made.Add(x.about.TTL))
}

// finished reports whether nothing more happens to the task.
func (x *task) finished() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.settled || x.lost
}

// shows notes how the upstream shows the task, and returns that under our id,
// and whether it stands otherwise than before.
func (x *task) shows(object []byte, about wire.Task, now time.Time) (ours []byte, changed bool) {
	ours = wire.RenameTask(object, x.id)
	x.mu.Lock()
	defer x.mu.Unlock()
	changed = x.about.Status != about.Status
	x.object, x.about, x.asked = ours, about, now
	x.about.Outcome = nil
	return ours, changed
}

// A taskKey is what an upstream calls a task.
type taskKey struct {
	upstream *upstreamState
	id       string
}

// A tokenKey is by what an upstream tells of the progress of a task.
type tokenKey struct {
	upstream *upstreamState
	token    int64
}

// tasks are those that there are. Each is found by the session that it belongs
// to and our id, and by what its upstream calls it, and in no other way.
type tasks struct {
	mu        sync.Mutex
	byID      map[string]*task
	theirs    map[taskKey]*task
	tokens    map[tokenKey]*task
	bySession map[*session][]*task // oldest first
	places    map[*session]int     // kept free for calls on their way; none with 0
	placesAll int
}

var (
	errTaskTwice    = errors.New("it is the id of another task")
	errTooManyTasks = errors.New("too many tasks are under way")
)

// take keeps a place free for the task of a call that is about to be sent: once
// it has run, it is too late to say that there are too many. It reports whether
// there is one, where there are several principals in the share of this one; those
// that are over make room. Who takes a place gives it back, or to [tasks.add].
func (s *tasks) take(of *session, several bool, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.makeRoom(of, now) || several && !fair(s.taken(of.principal), s.free()) {
		return false
	}
	if s.places == nil {
		s.places = map[*session]int{}
	}
	s.places[of]++
	s.placesAll++
	return true
}

// giveBack is for a call that became no task.
func (s *tasks) giveBack(of *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(of)
}

func (s *tasks) leave(of *session) {
	s.placesAll--
	if s.places[of]--; s.places[of] == 0 {
		delete(s.places, of)
	}
}

func (s *tasks) makeRoom(of *session, now time.Time) bool {
	taken := func() int { return len(s.bySession[of]) + s.places[of] }
	for _, x := range append([]*task(nil), s.bySession[of]...) {
		if x.finished() && (x.expired(now) || taken() >= maxTasks) {
			s.drop(x)
		}
	}
	return taken() < maxTasks && s.free() > 0
}

// free is how many tasks there can be besides those that there are.
func (s *tasks) free() int { return maxTasksAll - len(s.byID) - s.placesAll }

// taken is how many of them a principal has.
func (s *tasks) taken(principal string) (n int) {
	for of, list := range s.bySession {
		if of.principal == principal {
			n += len(list)
		}
	}
	for of, places := range s.places {
		if of.principal == principal {
			n += places
		}
	}
	return n
}

// add keeps x, in the place that was taken for it, if one was. An upstream that
// calls two tasks the same is not believed: what it says of one would be taken
// for the other.
func (s *tasks) add(x *task, place bool, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if place {
		s.leave(x.owner())
	}
	key := taskKey{x.upstream, x.theirs}
	switch {
	case s.theirs[key] != nil:
		return errTaskTwice
	case !s.makeRoom(x.owner(), now):
		return errTooManyTasks
	}
	if s.byID == nil {
		s.byID, s.theirs = map[string]*task{}, map[taskKey]*task{}
		s.tokens, s.bySession = map[tokenKey]*task{}, map[*session][]*task{}
	}
	s.byID[x.id], s.theirs[key] = x, x
	s.bySession[x.owner()] = append(s.bySession[x.owner()], x)
	if x.token != 0 {
		s.tokens[tokenKey{x.upstream, x.token}] = x
	}
	return nil
}

func (s *tasks) drop(x *task) {
	delete(s.byID, x.id)
	delete(s.theirs, taskKey{x.upstream, x.theirs})
	delete(s.tokens, tokenKey{x.upstream, x.token})
	rest := slices.DeleteFunc(s.bySession[x.owner()], func(other *task) bool { return other == x })
	if len(rest) == 0 {
		delete(s.bySession, x.owner())
		return
	}
	s.bySession[x.owner()] = rest
}

// find is the task of a session that its clients know by id; nil: it has none.
func (s *tasks) find(of *session, id string) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.byID[id]; x != nil && x.owner() == of {
		return x
	}
	return nil
}

// called is the task that an upstream calls id; nil: there is none.
func (s *tasks) called(u *upstreamState, id string) *task {
	if id == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.theirs[taskKey{u, id}]
}

// progressing is the task of whose progress an upstream tells with a token.
func (s *tasks) progressing(u *upstreamState, token int64) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[tokenKey{u, token}]
}

// of is the tasks of a session, oldest first.
func (s *tasks) of(session *session) []*task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*task(nil), s.bySession[session]...)
}

// forget is for a session that is gone. What is under way is still followed:
// nets that other sessions share may wait for it.
func (s *tasks) forget(of *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range append([]*task(nil), s.bySession[of]...) {
		x.mu.Lock()
		x.orphan = true
		idle := x.settled || x.lost
		x.mu.Unlock()
		if idle {
			s.drop(x)
		}
	}
}

// ended is told that nothing more happens to x.
func (s *tasks) ended(x *task) {
	x.mu.Lock()
	orphan := x.orphan
	x.mu.Unlock()
	if orphan {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.byID[x.id] == x {
			s.drop(x)
		}
	}
}

// busy reports whether an upstream works at a task.
func (s *tasks) busy(u *upstreamState) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, x := range s.theirs {
		if key.upstream == u && !x.finished() {
			return true
		}
	}
	return false
}

// An origin is what is left of a call that goes on as a task: whose it is, without
// its stream and its arguments.
type origin struct {
	settled
	client *client
	agent  agent
	meta   wire.Meta // the progress token only
}
