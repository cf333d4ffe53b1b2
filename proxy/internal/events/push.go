package events

import (
	"bytes"
	"net/http"
	"sync"
	"time"
)

// Limits on the messages kept for the stream of a session. None of them are answers. The limits are
// lower while no stream is open, and for messages already written: there are many sessions, and
// most never miss a message.
const (
	maxPushed      = 256     // messages for an open stream
	maxPushedBytes = 1 << 20 // their total size
	maxKept        = 64
	maxKeptBytes   = 16 << 10
)

// pushName is the stream name in the ids of its events. The names of POST streams are numbers from
// one.
const pushName = "0"

// A Push queues the messages of an HTTP session that belong to no request, until the client's GET
// stream takes them. It keeps them a while longer: a client whose stream broke sends the id of the
// last event it saw. Nothing is allocated before the first message. Push is safe for concurrent
// use.
type Push struct {
	news func(message []byte) bool

	mu       sync.Mutex
	sent     []pushed // written, but possibly not received
	waiting  []pushed
	last     int           // number of the last event
	open     int           // number of open GET streams
	replaced chan struct{} // closed when the client resumes the stream; nil: no stream so far
	ended    bool

	// Created with the first stream and unchanged afterwards.
	wake   chan struct{}
	closed chan struct{}
}

// A pushed is one message of the stream with its event number.
type pushed struct {
	number  int
	message []byte
}

// NewPush returns a Push. news reports whether a message only announces a change, so that one of
// several equal messages is enough.
func NewPush(news func(message []byte) bool) *Push {
	return &Push{news: news}
}

// Send queues a message for the client. If a stream is open, it is written at once.
func (s *Push) Send(parts ...[]byte) {
	message := bytes.Join(parts, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.news(message) {
		for _, e := range s.waiting {
			if bytes.Equal(e.message, message) { // one announcement is enough
				return
			}
		}
	}
	s.last++
	s.waiting = append(s.waiting, pushed{s.last, message})
	if s.open > 0 {
		s.waiting = s.bounded(s.waiting, maxPushed, maxPushedBytes)
		s.wakeStream()
	} else {
		s.waiting = s.bounded(s.waiting, maxKept, maxKeptBytes)
	}
}

// wakeStream wakes a stream. A stream must have been opened before.
func (s *Push) wakeStream() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// bounded removes messages until the limits are met: the oldest first, and announcements of changes
// last.
func (s *Push) bounded(events []pushed, count, size int) []pushed {
	total := 0
	for _, e := range events {
		total += len(e.message)
	}
	for len(events) > count || total > size {
		least := 0
		for i, e := range events {
			if !s.news(e.message) {
				least = i
				break
			}
		}
		total -= len(events[least].message)
		events = append(events[:least], events[least+1:]...)
		clear(events[len(events) : len(events)+1])
	}
	if len(events) == 0 {
		return nil
	}
	return events
}

// Reply sends the parts like Send. It is never called, because a Push carries no answers.
func (s *Push) Reply(parts ...[]byte) { s.Send(parts...) }

// Listening reports whether the client has an open stream.
func (s *Push) Listening() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open > 0
}

// Close ends all streams for good.
func (s *Push) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended && s.closed != nil {
		close(s.closed)
	}
	s.ended = true
}

// Serve writes the stream to a GET until the client disconnects, Close is called, or stop is
// closed. If prime is true, it begins with an event without data, for clients that know such
// events.
func (s *Push) Serve(w http.ResponseWriter, r *http.Request, prime bool, stop <-chan struct{}) {
	replaced, from, missed := s.join(seenPushed(r.Header.Get("Last-Event-ID")))
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

// seenPushed returns the number of an event of the stream by its id, or -1.
func seenPushed(lastEventID string) int {
	if name, seen := parseID(lastEventID); name == pushName {
		return seen
	}
	return -1
}

func writePushed(w http.ResponseWriter, events []pushed) {
	for _, e := range events {
		writeEventID(w, pushID(e.number), [][]byte{e.message})
	}
}

// join registers a stream. A stream that resumes after the event seen ends the earlier streams,
// which the client has lost, and gets the messages written to them since. from is the number of the
// event before the first one of this stream.
func (s *Push) join(seen int) (replaced <-chan struct{}, from int, missed []pushed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake == nil {
		s.wake, s.closed = make(chan struct{}, 1), make(chan struct{})
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
	if len(s.waiting) > 0 { // another stream might have missed the signal
		s.wakeStream()
	}
	if s.open == 0 {
		s.waiting = s.bounded(s.waiting, maxKept, maxKeptBytes)
	}
}

// take returns the queued messages for one stream and keeps them within the limits for resumption.
// It returns nil if another stream has replaced this one.
func (s *Push) take(replaced <-chan struct{}) []pushed {
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
		s.sent = s.bounded(append(s.sent, events...), maxKept, maxKeptBytes)
	}
	return events
}
