package proxy

import (
	"bytes"
	"net/http"
	"sync"
	"time"
)

// keepAlive is the time between two comments on a silent stream.
const keepAlive = 25 * time.Second

// maxPushed is how many messages wait for a stream that is not open or not
// read; further ones are dropped, since none of them is an answer.
const maxPushed = 256

// A pushStream holds what belongs to no request of an HTTP session until the
// client's GET stream takes it.
type pushStream struct {
	mu     sync.Mutex
	queue  [][]byte
	wake   chan struct{}
	open   int // GET streams
	closed chan struct{}
	once   sync.Once
}

func newPushStream() *pushStream {
	return &pushStream{wake: make(chan struct{}, 1), closed: make(chan struct{})}
}

func (s *pushStream) send(parts ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == 0 || len(s.queue) >= maxPushed {
		return
	}
	s.queue = append(s.queue, bytes.Join(parts, nil))
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// reply is never called: what is pushed belongs to no request.
func (s *pushStream) reply(parts ...[]byte) { s.send(parts...) }

func (s *pushStream) listening() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open > 0
}

func (s *pushStream) close() { s.once.Do(func() { close(s.closed) }) }

// serve writes the stream until the client, the session or the proxy ends it.
func (s *pushStream) serve(w http.ResponseWriter, r *http.Request, stop <-chan struct{}) {
	s.count(1)
	defer s.count(-1)
	startEvents(w)
	flush(w)
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		select {
		case <-s.wake:
			for _, message := range s.take() {
				writeEvent(w, [][]byte{message})
			}
		case <-tick.C:
			_, _ = w.Write([]byte(": still here\n\n"))
			flush(w)
		case <-r.Context().Done():
			return
		case <-s.closed:
			return
		case <-stop:
			return
		}
	}
}

func (s *pushStream) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += n
}

func (s *pushStream) take() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.queue
	s.queue = nil
	return queue
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
