package pipeline

import (
	"errors"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// An inflightState says where a call in flight stands: who gets its answer, what its server
// asks meanwhile, and whether it was abandoned, replied to or settled. It ends once.
type inflightState struct {
	mu       sync.Mutex
	over     bool
	inline   bool                      // the client's goroutine sends the request and reads the reply
	receiver *Call                     // gets the answer; nil: the call is parked
	held     *upstream.Reply           // came while the call was parked
	requests []*upstream.ServerRequest // of the server, that wait for the client
	exchange *upstream.Exchange        // nil until the call is sent
	reason   error                     // why the call was abandoned
	replied  bool                      // the server has replied
	settled  bool                      // the end is on record, and the gate knows
	late     *upstream.Reply           // came after the end, and before that was settled
	counted  bool                      // among the abandoned calls that the server may be busy with
}

// Receiver returns the call that gets the answer; nil: it is parked.
func (s *inflightState) Receiver() *Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.receiver
}

// begin notes the exchange of a call that is about to be sent. It reports false where the
// call is abandoned already: then it is not sent.
func (s *inflightState) begin(x *upstream.Exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == nil {
		s.exchange = x
	}
	return s.reason == nil
}

// sent notes the exchange of a call that was sent, and returns why it is abandoned already,
// if it is.
func (s *inflightState) sent(x *upstream.Exchange) (reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchange = x
	return s.reason
}

// markReplied notes that the server has replied. It returns where the call stood before.
func (s *inflightState) markReplied(r upstream.Reply) (over, settled, counted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replied = true
	if s.over && !s.settled {
		late := r
		s.late = &late
	}
	return s.over, s.settled, s.counted
}

// markSettled notes that the end is settled, and returns a reply that came since the end.
func (s *inflightState) markSettled() (late *upstream.Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled = true
	late, s.late = s.late, nil
	return late
}

// markOver notes that the call ends by r, which is held if the call is parked. first is false
// where the call has ended before.
func (s *inflightState) markOver(r upstream.Reply) (first, inline bool, receiver *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = !s.over
	s.over = true
	if s.receiver == nil && first {
		held := r
		s.held = &held
	}
	return first, s.inline, s.receiver
}

// markAbandoned notes why nobody waits for the reply any more. It returns the exchange of the
// call and the first reason; nil: the call is over, or not sent yet. first reports whether
// the exchange is to be cancelled, and counted.
func (s *inflightState) markAbandoned(why error) (x *upstream.Exchange, first bool, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.replied {
		return nil, false, nil
	}
	if s.reason == nil {
		s.reason = why
	}
	first = s.exchange != nil && !s.counted
	s.counted = s.counted || first
	return s.exchange, first, s.reason
}

// isAbandoned reports whether the proxy itself has ended the call, by r.
func (s *inflightState) isAbandoned(r upstream.Reply) bool {
	if r.Err == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.Err == s.reason
}

// cause returns why no reply came, which err says: a server that loses a request which the
// proxy has cancelled is not the cause.
func (s *inflightState) cause(err error) error {
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var lost *upstream.Lost
	if s.reason != nil && errors.As(err, &lost) && lost.Sent {
		return s.reason
	}
	return err
}

// readElsewhere notes that the client's goroutine does not read the reply any more.
func (s *inflightState) readElsewhere() *upstream.Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inline = false
	return s.exchange
}

// addRequest keeps a request of the server for the client. It returns the call whose client
// is asked; nil: the call is parked, and asks in the next round. why says why the request
// is refused instead; empty: it is not.
func (s *inflightState) addRequest(q *upstream.ServerRequest) (receiver *Call, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over || s.reason != nil: // or is about to be, which the server knows already
		return nil, callOver
	case len(s.requests) >= spec.MaxInputs:
		return nil, "too many requests wait for the client"
	}
	s.requests = append(s.requests, q)
	return s.receiver, ""
}

// takeRequests returns the requests of the server that have no answer, and keeps none.
func (s *inflightState) takeRequests() []*upstream.ServerRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.requests
	s.requests = nil
	return open
}

// Holding reports whether the call waits for its client, so that the time of its server
// does not run.
func (s *inflightState) Holding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = pool.Unanswered(s.requests)
	return !s.over && (s.receiver == nil || len(s.requests) > 0)
}

// parkFor takes the call from c, if ask has kept the requests of the server for the next
// round; ask runs under the lock. It returns the exchange of the call, and whether the
// client's goroutine was to read the reply.
func (s *inflightState) parkFor(c *Call, ask func([]*upstream.ServerRequest) bool) (x *upstream.Exchange, inline, parked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.receiver != c || !ask(pool.Unanswered(s.requests)) { // it has its answer, or is parked already
		return nil, false, false
	}
	inline = s.inline
	s.receiver, s.inline = nil, false
	return s.exchange, inline, true
}

// giveTo gives a parked call to c. It returns the reply that came meanwhile, and whether the
// server asks for more.
func (s *inflightState) giveTo(c *Call) (held *upstream.Reply, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = pool.Unanswered(s.requests)
	s.receiver = c
	return s.held, len(s.requests) > 0 && s.held == nil
}
