package events

import (
	"bytes"
	"container/list"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Bounds of what is kept for clients that lost a stream; see [Budget] for that of
// all streams.
const (
	maxStreams     = 64      // of one client
	maxEvents      = 256     // of one stream
	maxStreamBytes = 4 << 20 // of one stream
	maxKeptID      = 128     // bytes of the id of a request whose answer was lost
)

// A log is what an event stream of a session has carried, from the first
// event that its client may have missed. It is kept while the stream lives, and
// after that only if the client may have missed its end. An answer for which there
// is no room is lost, and its client is told so in its place.
type log struct {
	name      string
	principal string
	request   []byte // its id; nil: too long to be kept
	budget    *Budget

	// Guarded by the lock of the budget: after open, accessed only in budget.go.
	next    int // number of the next event
	events  [][]byte
	size    int           // of events, as it is counted
	place   *list.Element // among the logs of its principal; nil: nothing is kept
	done    bool
	lost    bool          // the answer is not among the events
	dropped bool          // nobody comes back
	more    chan struct{} // closed with the next event
}

// Logs are those of the streams of one client, without any at first.
type Logs struct {
	Budget    *Budget // that they are counted in
	Principal string  // whose they are

	mu     sync.Mutex
	last   int
	order  []*log // oldest first
	closed bool
}

// open begins the log of a new stream, in which request is answered. Where there
// are too many, the oldest cannot be taken up any more.
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

// drop forgets a stream of which nothing was missed.
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

// Close forgets all streams: the client does not come back.
func (s *Logs) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for len(s.order) > 0 {
		s.forget(0)
	}
}

// find is the stream of an event that a client has seen, and the number of it.
func (s *Logs) find(lastEventID string) (l *log, seen int) {
	name, seen := parseID(lastEventID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.order, func(l *log) bool { return l.name == name }); i >= 0 {
		return s.order[i], seen
	}
	return nil, 0
}

func (l *log) id(number int) string { return eventID(l.name, number) }

// notKept is told in place of an answer that was lost.
func (l *log) notKept() []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%q}}`, l.request,
		"The request has been answered, but the client had left the stream and the proxy keeps only so much for those that come back: the answer is lost. Find out what it was before repeating the request.")
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
