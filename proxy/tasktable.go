package proxy

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// Bounds of the tasks that are known. Those that are over make room for others.
const (
	maxTasks    = 128    // of one session
	maxTasksAll = 10_000 // of all
)

// A taskKey is a taskId of a server.
type taskKey struct {
	upstream *upstreamState
	id       string
}

// A tokenKey is a progressToken that a server has for a task.
type tokenKey struct {
	upstream *upstreamState
	token    int64
}

// A taskTable holds the tasks that are known, within bounds. A task is found by its
// session and our id, by its server and the server's id or progress token, and in
// no other way.
type taskTable struct {
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

// reserve keeps a place free for the task of a call that is about to be sent: once
// the call has run, it is too late to say that there are too many. It reports
// whether there is one, where there are several principals in the share of this
// one; tasks that are over make room. The caller gives the place back by
// [taskTable.release] or [taskTable.add].
func (s *taskTable) reserve(of *session, several bool, now time.Time) bool {
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

// release gives back the place of a call that became no task.
func (s *taskTable) release(of *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vacate(of)
}

func (s *taskTable) vacate(of *session) {
	s.placesAll--
	if s.places[of]--; s.places[of] == 0 {
		delete(s.places, of)
	}
}

func (s *taskTable) makeRoom(of *session, now time.Time) bool {
	taken := func() int { return len(s.bySession[of]) + s.places[of] }
	for _, x := range append([]*task(nil), s.bySession[of]...) {
		if x.finished() && (x.expired(now) || taken() >= maxTasks) {
			s.drop(x)
		}
	}
	return taken() < maxTasks && s.free() > 0
}

// free returns how many more tasks there can be.
func (s *taskTable) free() int { return maxTasksAll - len(s.byID) - s.placesAll }

// taken returns how many tasks and places a principal has.
func (s *taskTable) taken(principal string) (n int) {
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

// add keeps x, in the place that was reserved for it, if one was. It refuses a
// second task under one id of a server: what the server says of one would be taken
// for the other.
func (s *taskTable) add(x *task, reserved bool, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reserved {
		s.vacate(x.owner())
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

func (s *taskTable) drop(x *task) {
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

// find returns the task of a session that its clients know by id; nil: none.
func (s *taskTable) find(of *session, id string) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.byID[id]; x != nil && x.owner() == of {
		return x
	}
	return nil
}

// byServer returns the task that a server knows by id; nil: none.
func (s *taskTable) byServer(u *upstreamState, id string) *task {
	if id == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.theirs[taskKey{u, id}]
}

// byToken returns the task whose progress a server reports with a token; nil: none.
func (s *taskTable) byToken(u *upstreamState, token int64) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[tokenKey{u, token}]
}

// of returns the tasks of a session, oldest first.
func (s *taskTable) of(session *session) []*task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*task(nil), s.bySession[session]...)
}

// forget drops the tasks of a session that has ended. Those under way are still
// polled: nets that other sessions share may wait for them.
func (s *taskTable) forget(of *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range append([]*task(nil), s.bySession[of]...) {
		if x.disown() {
			s.drop(x)
		}
	}
}

// ended drops a task that is over if its session is too.
func (s *taskTable) ended(x *task) {
	if !x.isOrphan() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[x.id] == x {
		s.drop(x)
	}
}

// busy reports whether a server works at a task.
func (s *taskTable) busy(u *upstreamState) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, x := range s.theirs {
		if key.upstream == u && !x.finished() {
			return true
		}
	}
	return false
}
