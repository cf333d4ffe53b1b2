package proxy

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Bounds of the errands that are known. Those that are over make room for others.
const (
	maxErrands    = 64 // of one client for one upstream
	maxErrandsAll = 10_000
	maxErrandKept = 16 << 10 // bytes of what is kept of one
)

// An errand is a task that a client has made of what an upstream of 2025-11-25
// asked of it: a person thinks, or a model, and the upstream comes back for the
// answer. It knows the errand by an id of ours, which says nothing to any other
// upstream, or to the same one once it has begun anew.
type errand struct {
	id       string
	theirs   string // as the client calls it
	number   uint64 // in the order in which they were made
	upstream *upstreamState
	client   *client
	token    string              // the key of that by which its client tells of progress; empty: it does not
	progress func(params []byte) // takes it
	made     time.Time

	mu      sync.Mutex
	object  []byte // as the client showed it last, with our id; nil: that is too much to keep
	about   wire.Task
	asked   time.Time // when the upstream last wanted to know of it
	awaited int       // requests of it that have no answer
}

// shows notes how the client shows the errand, and returns that under our id.
func (e *errand) shows(object []byte, about wire.Task) []byte {
	ours := wire.RenameTask(object, e.id)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.object, e.about = nil, about
	if len(ours) <= maxErrandKept {
		e.object = ours
	}
	e.about.Outcome = nil
	return ours
}

// over reports whether nothing more happens to the errand.
func (e *errand) over() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.about.Status.Over()
}

// expired reports whether its client may have forgotten the errand.
func (e *errand) expired(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.about.TTL > 0 && now.After(e.made.Add(e.about.TTL))
}

// follows notes that the upstream wants to know of the errand, by n requests more
// that wait for an answer.
func (e *errand) follows(n int, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = now
	e.awaited += n
}

// followed reports whether the upstream waits for the errand, as far as it shows
// in how often it asks.
func (e *errand) followed(now time.Time, patience time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.about.Status.Over() && (e.awaited > 0 || now.Before(e.asked.Add(max(patience, 2*min(e.about.Poll, slowPoll)))))
}

// An errandKey is by what an upstream knows an errand, or a client: its name is
// that of a progress token, or of a task.
type errandKey struct {
	upstream *upstreamState
	client   *client
	name     string
}

// A pair is a client and an upstream that it runs errands for.
type pair struct {
	upstream *upstreamState
	client   *client
}

// errands are those that there are. Each is found by its upstream and our id,
// and by its client and the client's, and in no other way.
type errands struct {
	some atomic.Bool // there may be any

	mu     sync.Mutex
	made   uint64
	all    int
	byName map[errandKey]*errand
	of     map[pair][]*errand // oldest first
	places map[pair]int       // kept free for answers on their way
}

var errErrandTwice = errors.New("it is the id of another task")

// take keeps a place free for the task that the client is about to be asked to
// make; false: there is none.
func (s *errands) take(of pair, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Clone(s.of[of]) {
		if e.over() && (e.expired(now) || s.taken(of) >= maxErrands) || e.expired(now) && !e.followed(now, 0) {
			s.drop(e)
		}
	}
	if s.taken(of) >= maxErrands || s.all >= maxErrandsAll {
		return false
	}
	if s.places == nil {
		s.places, s.of, s.byName = map[pair]int{}, map[pair][]*errand{}, map[errandKey]*errand{}
	}
	s.places[of]++
	s.all++
	return true
}

func (s *errands) taken(of pair) int { return len(s.of[of]) + s.places[of] }

// giveBack is for an answer that is no task.
func (s *errands) giveBack(of pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(of)
}

func (s *errands) leave(of pair) {
	s.all--
	if s.places[of]--; s.places[of] == 0 {
		delete(s.places, of)
	}
}

// add keeps e in the place that was taken for it. A client that calls two tasks
// the same is not believed: an upstream could learn of what another one asked.
func (s *errands) add(e *errand) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := pair{e.upstream, e.client}
	if s.byName[e.atClient()] != nil {
		s.leave(of)
		return errErrandTwice
	}
	s.places[of]--
	if s.places[of] == 0 {
		delete(s.places, of)
	}
	s.made++
	e.number = s.made
	s.byName[e.atClient()], s.byName[e.atUpstream()] = e, e
	if e.token != "" {
		s.byName[e.ofProgress()] = e
	}
	s.of[of] = append(s.of[of], e)
	s.some.Store(true)
	return nil
}

func (e *errand) atUpstream() errandKey { return errandKey{upstream: e.upstream, name: e.id} }
func (e *errand) atClient() errandKey   { return errandKey{client: e.client, name: "task " + e.theirs} }
func (e *errand) ofProgress() errandKey { return errandKey{client: e.client, name: "token " + e.token} }

func (s *errands) drop(e *errand) {
	if s.byName[e.atUpstream()] != e {
		return
	}
	delete(s.byName, e.atUpstream())
	delete(s.byName, e.atClient())
	delete(s.byName, e.ofProgress())
	s.all--
	of := pair{e.upstream, e.client}
	rest := slices.DeleteFunc(s.of[of], func(other *errand) bool { return other == e })
	if s.of[of] = rest; len(rest) == 0 {
		delete(s.of, of)
	}
}

// find is what an upstream knows by an id; nil: there is no such errand of it.
func (s *errands) find(u *upstreamState, id string) *errand {
	return s.named(errandKey{upstream: u, name: id})
}

// ran is what a client calls id; nil: it runs no such errand.
func (s *errands) ran(c *client, id string) *errand {
	return s.named(errandKey{client: c, name: "task " + id})
}

// progressing is the errand of whose progress a client tells with the token of
// that key.
func (s *errands) progressing(c *client, token string) *errand {
	return s.named(errandKey{client: c, name: "token " + token})
}

func (s *errands) named(k errandKey) *errand {
	if !s.some.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[k]
}

// forget is for what the client does not know any more.
func (s *errands) forget(e *errand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(e)
}

// end takes away those for which which says yes: the client is gone, or the
// upstream has begun anew.
func (s *errands) end(which func(pair) bool) (ended []*errand) {
	if !s.some.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for of, list := range s.of {
		if which(of) {
			ended = append(ended, list...)
		}
	}
	for _, e := range ended {
		s.drop(e)
	}
	return ended
}

// at is what clients run for u, in the order in which they were made.
func (s *errands) at(u *upstreamState) (list []*errand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for of, some := range s.of {
		if of.upstream == u {
			list = append(list, some...)
		}
	}
	slices.SortFunc(list, func(a, b *errand) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	return list
}

// busy reports whether clients run errands for u that it follows.
func (s *errands) busy(u *upstreamState, now time.Time) bool {
	return s.some.Load() && slices.ContainsFunc(s.at(u), func(e *errand) bool { return e.followed(now, u.config.Timeout) })
}

// awaited reports whether u waits for what the client runs for it, so that the
// time that u may take does not run.
func (s *errands) awaited(u *upstreamState, c *client, now time.Time) bool {
	if !s.some.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.of[pair{u, c}], func(e *errand) bool { return e.followed(now, u.config.Timeout) })
}
