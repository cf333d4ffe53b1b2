package proxy

import (
	"bytes"
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

// usualRetry is how long a client is told to wait before it comes back for
// the rest of a stream.
const usualRetry = time.Second

// A streamLog is what an event stream of a session has carried, from the first
// event that its client may have missed. It is kept while the stream lives, and
// after that only if the client may have missed its end.
type streamLog struct {
	name string

	mu     sync.Mutex
	first  int // number of events[0]
	events [][]byte
	size   int
	done   bool
	more   chan struct{} // closed with the next event
}

// streamLogs are those of one client.
type streamLogs struct {
	mu     sync.Mutex
	last   int
	byName map[string]*streamLog
	order  []string // oldest first
}

// open begins the log of a new stream. Where there are too many, the oldest
// cannot be taken up any more.
func (s *streamLogs) open() *streamLog {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = map[string]*streamLog{}
	}
	s.last++
	l := &streamLog{name: strconv.Itoa(s.last), first: 1, more: make(chan struct{})}
	s.byName[l.name] = l
	s.order = append(s.order, l.name)
	if len(s.order) > maxStreams {
		delete(s.byName, s.order[0])
		s.order = s.order[1:]
	}
	return l
}

// drop forgets a stream of which nothing was missed.
func (s *streamLogs) drop(l *streamLog) {
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
func (s *streamLogs) find(lastEventID string) (l *streamLog, seen int) {
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
func (l *streamLog) add(event []byte, last bool) (id string) {
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

func (l *streamLog) id(number int) string { return l.name + "_" + strconv.Itoa(number) }

// since is the events after a number, whether there will be others, and what
// tells of them.
func (l *streamLog) since(seen int) (events [][]byte, from int, done bool, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from = max(seen+1, l.first)
	if skip := from - l.first; skip < len(l.events) {
		events = l.events[skip:]
	}
	return events, from, l.done, l.more
}

// serve writes what a client has missed of the stream, and the rest of it.
func (l *streamLog) serve(w http.ResponseWriter, r *http.Request, seen int, stop <-chan struct{}) (whole bool) {
	startEvents(w)
	flush(w)
	tick := time.NewTicker(keepAlive)
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
			_, _ = w.Write([]byte(": still here\n\n"))
			flush(w)
		case <-r.Context().Done():
			return false
		case <-stop:
			return false
		}
	}
}

// resume serves a GET that names the last event that its client has seen. It
// reports false where there is no such stream.
func (h *handler) resume(w http.ResponseWriter, r *http.Request, c *client) bool {
	l, seen := c.streams.find(r.Header.Get("Last-Event-ID"))
	if l == nil {
		return false
	}
	if l.serve(w, r, seen, h.proxy.streaming.Done()) {
		c.streams.drop(l)
	}
	return true
}

// resumable reports whether clients of a revision know that a stream can end
// before its answer, and begin with an event without data.
func resumable(protocol string) bool { return protocol >= "2025-11-25" && protocol < "2026" }

// prime begins a stream that can be taken up again.
func prime(w http.ResponseWriter, l *streamLog) {
	_, _ = w.Write([]byte("id: " + l.id(0) + "\nretry: " + strconv.FormatInt(usualRetry.Milliseconds(), 10) + "\ndata: \n\n"))
}

func writeEventID(w http.ResponseWriter, id string, parts [][]byte) {
	_, _ = w.Write([]byte("id: " + id + "\n"))
	writeEvent(w, parts)
}

// interrupt ends the response for now: the upstream has ended its stream, and
// wants the client to come back. It reports false where the client would not.
func (s *postStream) interrupt(retry time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil || s.done || s.logs == nil {
		return false
	}
	s.begin()
	if retry > 0 {
		_, _ = s.w.Write([]byte("retry: " + strconv.FormatInt(retry.Milliseconds(), 10) + "\n\n"))
	}
	flush(s.w)
	return true
}

// interrupted is told that the upstream has ended the stream of the flight and
// will let it be taken up. A client that can do the same is let go meanwhile.
func (f *flight) interrupted(retry time.Duration) {
	t := f.receiver()
	if t == nil {
		return
	}
	s, ok := t.stream.(*postStream)
	if !ok || !s.interrupt(retry) {
		return
	}
	f.mu.Lock()
	f.here = false
	x := f.exchange
	f.mu.Unlock()
	t.mu.Lock()
	landed := t.landed
	t.landed = nil
	t.mu.Unlock()
	if landed != nil {
		close(landed) // its goroutine waits for nothing any more
	}
	if x != nil {
		x.Leave()
	}
}

// joined is the parts of an event as one.
func joined(parts [][]byte) []byte { return bytes.Join(parts, nil) }
