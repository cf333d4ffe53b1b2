package events

import (
	"bytes"
	"net/http"
	"sync"
	"time"
)

// Bounds of what is kept for the stream of a session. None of it is an answer.
// While no stream is open, and of what was written already, there is less: there
// are many sessions, and most of them never miss anything.
const (
	maxPushed      = 256     // messages for a stream that is open
	maxPushedBytes = 1 << 20 // of them
	maxKept        = 64
	maxKeptBytes   = 16 << 10
)

// pushName is the name of the stream in the ids of its events. Those of POST
// streams are numbers from one.
const pushName = "0"

// A Push holds what belongs to no request of an HTTP session until the
// client's GET stream takes it, and for a while after that: a client whose
// stream broke says which event it saw last. Nothing is allocated before there
// is a message.
type Push struct {
	news func(message []byte) bool

	mu       sync.Mutex
	sent     []pushed // written, maybe not read
	waiting  []pushed
	last     int           // number of the last event
	open     int           // GET streams
	replaced chan struct{} // closed when the client takes the stream up anew; nil: there was no stream yet
	ended    bool

	// Made with the first stream, and the same from then on.
	wake   chan struct{}
	closed chan struct{}
}

// A pushed event is one message of the stream.
type pushed struct {
	number  int
	message []byte
}

// NewPush makes a stream. News reports of a message that it says only that
// something has changed: one such message says as much as several.
func NewPush(news func(message []byte) bool) *Push {
	return &Push{news: news}
}

// Send keeps a message for the client, whose stream takes it at once if one is
// open.
func (s *Push) Send(parts ...[]byte) {
	message := bytes.Join(parts, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.news(message) {
		for _, e := range s.waiting {
			if bytes.Equal(e.message, message) { // the client will look once it hears of it
				return
			}
		}
	}
	s.last++
	s.waiting = append(s.waiting, pushed{s.last, message})
	if s.open > 0 {
		s.waiting = s.bounded(s.waiting, maxPushed, maxPushedBytes)
		s.poke()
	} else {
		s.waiting = s.bounded(s.waiting, maxKept, maxKeptBytes)
	}
}

// poke wakes a stream; there is one, or was.
func (s *Push) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// bounded is the events without what is too much of them: the oldest go first,
// and what only says that something has changed goes last.
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

// Reply is never called: what is pushed belongs to no request.
func (s *Push) Reply(parts ...[]byte) { s.Send(parts...) }

// Listening reports whether the client has a stream open.
func (s *Push) Listening() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open > 0
}

// Close ends all streams, for good.
func (s *Push) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended && s.closed != nil {
		close(s.closed)
	}
	s.ended = true
}

// Serve writes the stream to a GET until the client ends it, Close does, or stop
// is closed. Prime begins it with an event without data, for a client that knows
// of such.
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

// seenPushed is the number of an event of the stream by its id; -1: it is none.
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

// join counts a stream. One that is taken up after the event seen ends those
// before it, of which the client has lost sight, and gets what was written
// to them since; from is the event that it begins after.
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
	if len(s.waiting) > 0 { // another stream may have slept through it
		s.poke()
	}
	if s.open == 0 {
		s.waiting = s.bounded(s.waiting, maxKept, maxKeptBytes)
	}
}

// take is what waits, for one stream: nothing where another has taken its place,
// whose client does not see this one any more. It is kept as far as there is room.
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
