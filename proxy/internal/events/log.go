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

// Logs holds one log of events for each of a client's streams. Budget must be set before use. A
// Logs is safe for concurrent use.
type Logs struct {
	Budget    *Budget // limits the bytes in all logs
	Principal string  // the client's principal

	mu     sync.Mutex
	last   int
	order  []*log // logs of the client's streams, oldest first
	closed bool
}

// open starts a log for the stream that responds to the request with the given ID. If the client
// has too many logs, open drops the oldest one, and that log's stream can no longer be resumed.
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

// drop deletes the log of a stream that the client has received completely.
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

// Close deletes all logs. It is called when the client will not return.
func (s *Logs) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for len(s.order) > 0 {
		s.forget(0)
	}
}

// findLog returns the log of the stream named in the given event ID, and the number of that event.
// If the stream is unknown, the log is nil.
func (s *Logs) findLog(lastEventID string) (l *log, seen int) {
	name, seen := parseID(lastEventID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.order, func(l *log) bool { return l.name == name }); i >= 0 {
		return s.order[i], seen
	}
	return nil, 0
}

// serve writes the events that the client has not seen, and then the rest of the stream. It reports
// whether the client has received the whole stream.
func (l *log) serve(w http.ResponseWriter, r *http.Request, seen int, stop <-chan struct{}) (whole bool) {
	startEvents(w)
	flush(w)
	tick := time.NewTicker(KeepAlive)
	defer tick.Stop()
	for {
		events, from, done, more := l.eventsSince(seen)
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
	l, seen := s.findLog(r.Header.Get("Last-Event-ID"))
	if l == nil {
		return false
	}
	if l.serve(w, r, seen, stop) {
		s.drop(l)
	}
	return true
}

// Resumable reports whether clients of the given revision can handle resumable streams. Such a
// stream may end before the JSON-RPC response and may begin with an event without data.
func Resumable(protocol string) bool { return protocol >= "2025-11-25" && protocol < "2026" }

// Limits on the bytes stored for all clients that may reconnect.
const (
	budgetEach = 16 << 20
	budgetAll  = 64 << 20
)

// eventCost is the memory overhead, in bytes, that is counted for each event.
const eventCost = 64

// A Budget limits the bytes stored for clients that may reconnect to their streams, per principal
// and in total. If a principal exceeds its limit, its oldest streams lose their events. If the
// total limit is exceeded, the principal with the most bytes loses the events of its oldest
// streams. The zero value is ready to use.
type Budget struct {
	mu    sync.Mutex // guards the fields below it and the logs
	total int
	held  map[string]*holding // keyed by principal; an entry is deleted with the principal's last event
}

// A holding lists the nonempty logs of one principal.
type holding struct {
	principal string
	bytes     int
	logs      list.List // list of the *log values that have events, oldest first
}

// drop deletes all events in the log. From then on, add stores no events.
func (l *log) drop() {
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	l.empty()
	l.dropped = true
}

// add appends an event and returns its ID. If the stream has too many events, add deletes the
// oldest.
func (l *log) add(parts [][]byte, last bool) (id string) {
	size := eventCost
	for _, part := range parts {
		size += len(part)
	}
	var event []byte
	if size <= maxStreamBytes {
		event = bytes.Join(parts, nil)
	}
	b := l.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	number := l.next
	l.next++
	l.done = l.done || last
	if event == nil || l.dropped {
		l.empty()
		l.lost = last
	} else {
		l.events = append(l.events, event)
		for len(l.events) > maxEvents || l.size+size > maxStreamBytes {
			b.uncount(l, eventCost+len(l.events[0]))
			l.events[0], l.events = nil, l.events[1:]
		}
		b.count(l, size)
	}
	close(l.more)
	l.more = make(chan struct{})
	return l.id(number)
}

// empty deletes all events in the log. The caller must hold the budget's lock.
func (l *log) empty() {
	l.lost = l.lost || l.done && len(l.events) > 0
	l.events = nil
	l.budget.uncount(l, l.size)
}

// eventsSince returns the events that the client has not seen, and the number of the first one. It
// also reports whether the stream is complete, and returns a channel that is closed when the next
// event arrives.
func (l *log) eventsSince(seen int) (events [][]byte, from int, done bool, more <-chan struct{}) {
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	events = l.events
	if l.lost && l.request != nil {
		events = [][]byte{l.lostAnswer()}
	}
	first := l.next - len(events)
	from = max(seen+1, first)
	return slices.Clone(events[min(from-first, len(events)):]), from, l.done, l.more
}

// count adds n bytes to the cost of a log. It then deletes the events of the oldest logs until the
// limits are met. The caller must hold the lock.
func (b *Budget) count(l *log, n int) {
	h := b.held[l.principal]
	switch {
	case b.held == nil:
		b.held = map[string]*holding{}
		fallthrough
	case h == nil:
		h = &holding{principal: l.principal}
		b.held[l.principal] = h
	}
	if l.place == nil {
		l.place = h.logs.PushBack(l)
	}
	l.size += n
	h.bytes += n
	b.total += n
	for h.bytes > budgetEach {
		h.oldest().empty()
	}
	for b.total > budgetAll {
		b.largestHolding().oldest().empty()
	}
}

// uncount subtracts n bytes from the cost of a log. The caller must hold the lock.
func (b *Budget) uncount(l *log, n int) {
	if l.place == nil {
		return
	}
	h := b.held[l.principal]
	l.size -= n
	h.bytes -= n
	b.total -= n
	if l.size > 0 {
		return
	}
	h.logs.Remove(l.place)
	l.place = nil
	if h.logs.Len() == 0 {
		delete(b.held, h.principal)
	}
}

func (h *holding) oldest() *log {
	l, _ := h.logs.Front().Value.(*log)
	return l
}

// largestHolding returns the entry of the principal with the most stored bytes.
func (b *Budget) largestHolding() (most *holding) {
	for _, h := range b.held {
		if most == nil || h.bytes > most.bytes || h.bytes == most.bytes && h.principal < most.principal {
			most = h
		}
	}
	return most
}

// A log stores the latest events of one stream. A client that resumes the stream gets the events
// that it missed. The log is kept after the end of the stream if the client may have missed the
// last event. If the JSON-RPC response was too large to store, or was deleted to stay within the
// budget, the client gets an error instead. It does not get this error if the request's ID was too
// long to store.
type log struct {
	name      string
	principal string
	request   []byte // request ID; nil if it is too long to store
	budget    *Budget

	// The budget's lock guards the fields below after open has returned the log.
	next    int // number of the next event
	events  [][]byte
	size    int           // total cost of the events
	place   *list.Element // position in the principal's list; nil if the log has no events
	done    bool
	lost    bool          // whether the JSON-RPC response was too large to store or has been deleted
	dropped bool          // whether new events are discarded, because no client will resume the stream
	more    chan struct{} // closed when the next event arrives
}

// Limits on the events stored for clients that have lost a stream. A [Budget] limits all streams
// together.
const (
	maxStreams     = 64      // maximum number of streams per client
	maxEvents      = 256     // maximum number of events per stream
	maxStreamBytes = 4 << 20 // maximum number of bytes per stream
	maxKeptID      = 128     // maximum length of a stored request ID
)

func (l *log) id(number int) string { return eventID(l.name, number) }

// lostAnswer returns the error sent in place of a lost JSON-RPC response.
func (l *log) lostAnswer() []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%q}}`, l.request,
		"The answer to this request is lost: the client had left the stream, and the proxy stores only a limited number of answers. Find out what happened before repeating the request.")
}
