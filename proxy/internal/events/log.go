package events

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Logs holds the logs of a client's streams. Budget must be set before use. A Logs is safe for
// concurrent use.
type Logs struct {
	Budget    *Budget // counts the bytes in the logs
	Principal string  // principal of the client

	mu     sync.Mutex
	last   int
	order  []*log // oldest first
	closed bool
}

// open starts a log for a new stream that answers the given request. If there are too many logs, it
// drops the oldest one. The stream of that log then cannot be resumed.
func (s *Logs) open(request []byte) *log {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	l := &log{name: strconv.Itoa(s.last), principal: s.Principal, budget: s.Budget, next: 1, dropped: s.closed, more: make(chan struct{})}
	if len(request) <= maxKeptID {
		l.request = bytes.Clone(request)
	}
	if s.closed {
		return l
	}
	s.order = append(s.order, l)
	if len(s.order) > maxStreams {
		s.forget(0)
	}
	return l
}

// drop drops the log of a stream that the client has seen to its end.
func (s *Logs) drop(l *log) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.order, l); i >= 0 {
		s.forget(i)
	}
}

func (s *Logs) forget(i int) {
	l := s.order[i]
	s.order = slices.Delete(s.order, i, i+1)
	l.drop()
}

// Close drops all logs, because the client will not return.
func (s *Logs) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for len(s.order) > 0 {
		s.forget(0)
	}
}

// find returns the log that contains the event with the given ID, and the number of that event. It
// returns nil if the stream is unknown.
func (s *Logs) find(lastEventID string) (l *log, seen int) {
	name, seen := parseID(lastEventID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.order, func(l *log) bool { return l.name == name }); i >= 0 {
		return s.order[i], seen
	}
	return nil, 0
}

// serve writes the events after the event with the number seen, and then the rest of the stream. It
// reports whether the client has received the complete stream.
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

// Resume serves a GET request with a Last-Event-ID header, until stop is closed. It returns false
// if the stream is unknown.
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

// Resumable reports whether clients of the given revision know that a stream may end before the
// answer, and that it may begin with an event that has no data.
func Resumable(protocol string) bool { return protocol >= "2025-11-25" && protocol < "2026" }
