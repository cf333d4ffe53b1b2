package events

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of what is kept for clients that lost a stream.
const (
	maxStreams     = 64      // of one client
	maxEvents      = 256     // of one stream
	maxStreamBytes = 1 << 20 // of one stream, but for its last event
)

// A log is what an event stream of a session has carried, from the first
// event that its client may have missed. It is kept while the stream lives, and
// after that only if the client may have missed its end.
type log struct {
	name string

	mu     sync.Mutex
	first  int // number of events[0]
	events [][]byte
	size   int
	done   bool
	more   chan struct{} // closed with the next event
}

// Logs are those of the streams of one client. The zero value has none.
type Logs struct {
	mu     sync.Mutex
	last   int
	byName map[string]*log
	order  []string // oldest first
}

// open begins the log of a new stream. Where there are too many, the oldest
// cannot be taken up any more.
func (s *Logs) open() *log {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = map[string]*log{}
	}
	s.last++
	l := &log{name: strconv.Itoa(s.last), first: 1, more: make(chan struct{})}
	s.byName[l.name] = l
	s.order = append(s.order, l.name)
	if len(s.order) > maxStreams {
		delete(s.byName, s.order[0])
		s.order = s.order[1:]
	}
	return l
}

// drop forgets a stream of which nothing was missed.
func (s *Logs) drop(l *log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byName, l.name)
	for i, name := range s.order {
		if name == l.name {
			s.order = append(s.order[:i], s.order[i+1:]...)
			return
		}
	}
}

// find is the stream of an event that a client has seen, and the number of it.
func (s *Logs) find(lastEventID string) (l *log, seen int) {
	name, number, _ := strings.Cut(lastEventID, "_")
	seen, err := strconv.Atoi(number)
	if err != nil || seen < 0 {
		return nil, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name], seen
}

// add keeps an event and returns its id. What is too much is forgotten from
// the beginning.
func (l *log) add(event []byte, last bool) (id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, event)
	l.size += len(event)
	for len(l.events) > 1 && (len(l.events) > maxEvents || l.size-len(event) > maxStreamBytes) {
		l.size -= len(l.events[0])
		l.events, l.first = l.events[1:], l.first+1
	}
	l.done = l.done || last
	close(l.more)
	l.more = make(chan struct{})
	return l.id(l.first + len(l.events) - 1)
}

func (l *log) id(number int) string { return l.name + "_" + strconv.Itoa(number) }

// since is the events after a number, whether there will be others, and what
// tells of them.
func (l *log) since(seen int) (events [][]byte, from int, done bool, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from = max(seen+1, l.first)
	if skip := from - l.first; skip < len(l.events) {
		events = l.events[skip:]
	}
	return events, from, l.done, l.more
}

// serve writes what a client has missed of the stream, and the rest of it.
func (l *log) serve(w http.ResponseWriter, r *http.Request, seen int, stop <-chan struct{}) (whole bool) {
	startEvents(w)
	flush(w)
	tick := time.NewTicker(KeepAlive)
	defer tick.Stop()
	for {
		events, from, done, more := l.since(seen)
		for i, event := range events {
			seen = from + i
			writeEventID(w, l.id(seen), [][]byte{event})
		}
		if done {
			return r.Context().Err() == nil
		}
		select {
		case <-more:
		case <-tick.C:
			writeComment(w)
		case <-r.Context().Done():
			return false
		case <-stop:
			return false
		}
	}
}

// Resume serves a GET that names the last event that its client has seen, until
// stop is closed. It reports false where there is no such stream.
func (s *Logs) Resume(w http.ResponseWriter, r *http.Request, stop <-chan struct{}) bool {
	l, seen := s.find(r.Header.Get("Last-Event-ID"))
	if l == nil {
		return false
	}
	if l.serve(w, r, seen, stop) {
		s.drop(l)
	}
	return true
}

// Resumable reports whether clients of a revision know that a stream can end
// before its answer, and begin with an event without data.
func Resumable(protocol string) bool { return protocol >= "2025-11-25" && protocol < "2026" }
