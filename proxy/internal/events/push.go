package events

import (
	"bytes"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/wait"
)

// Limits on the messages stored for the GET stream of a session. maxKept and maxKeptBytes apply to
// messages that have been written, and to all messages while no stream is open. They are low
// because there are many sessions, and most clients never miss a message.
const (
	maxPushed      = 256     // maximum number of messages for an open stream
	maxPushedBytes = 1 << 20 // maximum total size in bytes of the messages for an open stream
	maxKept        = 64
	maxKeptBytes   = 16 << 10
)

// pushName is the stream's name in event IDs. The names of POST streams are numbers starting at
// one.
const pushName = "0"

// A Push queues the messages of an HTTP session that belong to no request, until they are written
// to the client's GET stream. It stores written messages a little longer, because a client that
// reconnects sends the ID of the last event that it has received. The queues and channels are
// allocated only when they are needed. A Push is safe for concurrent use.
type Push struct {
	isNotice func(message []byte) bool

	mu       sync.Mutex
	sent     []pushedMessage // written messages that the client might have missed
	waiting  []pushedMessage
	last     int           // number of the newest event
	open     int           // number of open GET streams
	replaced chan struct{} // closed when the client resumes the stream; nil before the first stream
	ended    bool

	// The fields below are set when the first stream opens, and do not change afterwards.
	wake   wait.Signal
	closed chan struct{}
}

// A pushedMessage is a message in the stream, together with its event number.
type pushedMessage struct {
	number  int
	message []byte
}

// NewPush returns a Push. The function isNotice reports whether a message only announces a change.
// The Push queues only one of several identical announcements.
func NewPush(isNotice func(message []byte) bool) *Push {
	return &Push{isNotice: isNotice}
}

// Send queues a message for the client, and writes it immediately if a stream is open.
func (s *Push) Send(parts ...[]byte) {
	message := bytes.Join(parts, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isNotice(message) {
		for _, e := range s.waiting {
			if bytes.Equal(e.message, message) { // the same announcement is already queued
				return
			}
		}
	}
	s.last++
	s.waiting = append(s.waiting, pushedMessage{s.last, message})
	if s.open > 0 {
		s.waiting = s.trim(s.waiting, maxPushed, maxPushedBytes)
		s.wake.Send()
	} else {
		s.waiting = s.trim(s.waiting, maxKept, maxKeptBytes)
	}
}

// trim removes messages until both limits are met, and returns the rest. It removes the oldest
// messages first, and announcements of changes last.
func (s *Push) trim(events []pushedMessage, count, size int) []pushedMessage {
	total := 0
	for _, e := range events {
		total += len(e.message)
	}
	for len(events) > count || total > size {
		least := 0
		for i, e := range events {
			if !s.isNotice(e.message) {
				least = i
				break
			}
		}
		total -= len(events[least].message)
		events = slices.Delete(events, least, least+1)
	}
	if len(events) == 0 {
		return nil
	}
	return events
}

// Reply implements spec.Stream. It is never called, because a Push carries no JSON-RPC responses.
func (s *Push) Reply(parts ...[]byte) { s.Send(parts...) }

// Listening reports whether the client has opened a stream.
func (s *Push) Listening() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open > 0
}

// Close ends all streams permanently.
func (s *Push) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended && s.closed != nil {
		close(s.closed)
	}
	s.ended = true
}

// Serve writes the stream in response to a GET request. It returns when the client disconnects or
// resumes the stream with another request, when Close is called, or when stop is closed. If prime
// is true, the stream begins with an event without data, which only certain clients understand.
func (s *Push) Serve(w http.ResponseWriter, r *http.Request, prime bool, stop <-chan struct{}) {
	replaced, from, missed := s.join(pushedNumber(r.Header.Get("Last-Event-ID")))
	defer s.leave()
	startEvents(w)
	if prime {
		writePrime(w, pushID(from))
	}
	flush(w)
	writePushed(w, missed)
	tick := time.NewTicker(KeepAlive)
	defer tick.Stop()
	for {
		writePushed(w, s.take(replaced))
		select {
		case <-s.wake:
		case <-tick.C:
			writeComment(w)
		case <-r.Context().Done():
			return
		case <-replaced:
			return
		case <-s.closed:
			return
		case <-stop:
			return
		}
	}
}

func pushID(number int) string { return eventID(pushName, number) }

// pushedNumber returns the number of the event with the given ID, or -1 if the event does not belong
// to this stream.
func pushedNumber(lastEventID string) int {
	if name, seen := parseID(lastEventID); name == pushName {
		return seen
	}
	return -1
}

func writePushed(w http.ResponseWriter, events []pushedMessage) {
	for _, e := range events {
		writeEventID(w, pushID(e.number), [][]byte{e.message})
	}
}

// join registers a new stream. seen is the number of the last event that the client has received.
// If seen is negative, the new stream is independent of earlier ones. Otherwise, it replaces them
// and continues after that event. join returns the stored messages that the client has missed, and
// the number of the last event before this stream. The returned channel is closed when a later
// stream replaces this one.
func (s *Push) join(seen int) (replaced <-chan struct{}, from int, missed []pushedMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake == nil {
		s.wake, s.closed = wait.NewSignal(), make(chan struct{})
		if s.ended {
			close(s.closed)
		}
	}
	s.open++
	from = s.last
	if len(s.waiting) > 0 {
		from = s.waiting[0].number - 1
	}
	if seen >= 0 {
		from = min(from, seen)
		for _, e := range s.sent {
			if e.number > seen {
				missed = append(missed, e)
			}
		}
	}
	if seen >= 0 && s.replaced != nil {
		close(s.replaced)
		s.replaced = nil
	}
	if s.replaced == nil {
		s.replaced = make(chan struct{})
	}
	return s.replaced, from, missed
}

func (s *Push) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if len(s.waiting) > 0 { // this stream may have received the wake signal without taking the messages, so wake another one
		s.wake.Send()
	}
	if s.open == 0 {
		s.waiting = s.trim(s.waiting, maxKept, maxKeptBytes)
	}
}

// take returns the messages queued for a stream. It also stores them, within the limits, in case
// the stream is resumed. It returns nil if another stream has replaced this one.
func (s *Push) take(replaced <-chan struct{}) []pushedMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-replaced:
		return nil
	default:
	}
	events := s.waiting
	s.waiting = nil
	if len(events) > 0 {
		s.sent = s.trim(append(s.sent, events...), maxKept, maxKeptBytes)
	}
	return events
}
