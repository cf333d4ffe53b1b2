package pipeline

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// An inflightCall is a request that was admitted and sent, until it is settled. It ends once: by
// the server's reply, by a timeout or by its client. After a timeout or a cancellation the outcome
// is unknown, and a late reply settles it.
type inflightCall struct {
	Call   *Call // the call that was admitted
	ticket *admission.Ticket
	rev    *rev.Rev // revision of the server

	token    int64             // progressToken sent to the server; 0: none
	asTask   bool              // the call asks for a task (params.task of 2025-11-25)
	taskable bool              // the server was told that the client accepts a task (2026-07-28)
	handle   *tasks.TaskHandle // task that the call became; nil: none

	answered   func(admission.Result) // tells the observer that the reply has arrived; nil: no observer
	delaysExit atomic.Bool            // the proxy does not exit before the outcome is on record

	pool.QueuePlace // position in the queue of calls in flight to the server
	inflightState
}

// InFlight returns the calls in flight to u.
func InFlight(u *pool.Server) (list []*inflightCall) {
	for _, one := range u.InFlight.All() {
		if f, ok := one.Request.(*inflightCall); ok {
			list = append(list, f)
		}
	}
	return list
}

// A stage is how far a request in flight has come. It goes through the stages in their order.
type stage int

const (
	pending stage = iota // neither replied to nor abandoned
	ended                // replied to or abandoned; the gate does not know the end yet
	settled              // the end is on record, and the gate knows it
)

// An inflightState is the state of a request in flight: how far it has come, which call receives
// its reply, and the requests that its server makes meanwhile. mu guards the fields.
type inflightState struct {
	mu        sync.Mutex
	stage     stage
	inline    bool                      // the goroutine that waits for the call sends the request and reads the reply
	receiver  *Call                     // call that gets the answer; nil: the request is parked between two rounds
	heldReply *upstream.Reply           // reply that came while parked
	requests  []*upstream.ServerRequest // server's requests that wait for the client
	exchange  *upstream.Exchange        // nil until sent
	reason    error                     // why the request was abandoned
	late      *upstream.Reply           // reply that came after the end but before it was settled
	counted   bool                      // counted among the abandoned calls that may still occupy the server
}

// Receiver returns the call that gets the answer, or nil if the request is parked.
func (s *inflightState) Receiver() *Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.receiver
}

// begin sets the exchange of a request that is about to be sent. It reports false if the request
// was abandoned and must not be sent.
func (s *inflightState) begin(x *upstream.Exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == nil {
		s.exchange = x
	}
	return s.reason == nil
}

// sent sets the exchange of a request that was sent. It returns why the request was abandoned
// meanwhile, or nil.
func (s *inflightState) sent(x *upstream.Exchange) (reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchange = x
	return s.reason
}

// An endState is a request in flight as its end found it.
type endState struct {
	before   stage                     // stage until then; a request ends once, from pending
	counted  bool                      // counted among the abandoned calls that may still occupy the server
	inline   bool                      // the goroutine that waits for the call sends the request and reads the reply
	reason   error                     // why the request was abandoned; nil: it was not
	receiver *Call                     // call that gets the answer; nil: the request is parked
	requests []*upstream.ServerRequest // unanswered requests of the server
}

// markEnded ends the request with r unless it has ended before, and keeps r if the request is
// parked. The server's reply is late if it comes after the end.
func (s *inflightState) markEnded(r upstream.Reply, fromServer bool) endState {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := endState{s.stage, s.counted, s.inline, s.reason, s.receiver, s.requests}
	switch {
	case s.stage == ended && fromServer:
		s.late = new(r)
	case s.stage == pending && s.receiver == nil:
		s.heldReply = new(r)
	}
	if s.stage == pending {
		s.stage, s.requests = ended, nil
	}
	return e
}

// markSettled records that the end is settled, and returns a reply that has come since the end, or
// nil.
func (s *inflightState) markSettled() (late *upstream.Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stage = settled
	late, s.late = s.late, nil
	return late
}

// markAbandoned records why the client stopped waiting for the reply. It returns the exchange and
// the first reason; x is nil if the request is over or not sent yet. first reports whether the
// caller has to cancel the exchange and count it as abandoned.
func (s *inflightState) markAbandoned(why error) (x *upstream.Exchange, first bool, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stage != pending {
		return nil, false, nil
	}
	if s.reason == nil {
		s.reason = why
	}
	first = s.exchange != nil && !s.counted
	s.counted = s.counted || first
	return s.exchange, first, s.reason
}

// cause returns why no reply came. It is err, unless the proxy had cancelled the request that was
// then lost: the cause is the cancellation, not the server.
func (s *inflightState) cause(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lost *upstream.Lost
	if s.reason != nil && errors.As(err, &lost) && lost.Sent {
		return s.reason
	}
	return err
}

// stopInline records that the goroutine that waits for the call no longer reads the reply, and
// returns the exchange.
func (s *inflightState) stopInline() *upstream.Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inline = false
	return s.exchange
}

const callOver = "the call is over"

// addRequest keeps a server's request for the client. It returns the call whose client is asked, or
// nil if the request in flight is parked and asks in the next round. why is the reason for refusing
// the server's request instead, or empty.
func (s *inflightState) addRequest(q *upstream.ServerRequest) (receiver *Call, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stage != pending || s.reason != nil: // or about to be over, as the server knows
		return nil, callOver
	case len(s.requests) >= spec.MaxInputs:
		return nil, "too many requests wait for the client"
	}
	s.requests = append(s.requests, q)
	return s.receiver, ""
}

// takeRequests removes and returns the server's unanswered requests.
func (s *inflightState) takeRequests() []*upstream.ServerRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.requests
	s.requests = nil
	return open
}

// Holding reports whether the request waits for its client, which stops the clock of the server's
// timeout.
func (s *inflightState) Holding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = pool.Unanswered(s.requests)
	return s.stage == pending && (s.receiver == nil || len(s.requests) > 0)
}

// parkFor takes the request away from c if ask keeps the server's requests for the next round; it
// calls ask with mu held. It returns the exchange and whether the goroutine that waits for c was
// reading the reply.
func (s *inflightState) parkFor(c *Call, ask func([]*upstream.ServerRequest) bool) (x *upstream.Exchange, inline, parked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stage != pending || s.receiver != c || !ask(pool.Unanswered(s.requests)) { // answered, or parked already
		return nil, false, false
	}
	inline = s.inline
	s.receiver, s.inline = nil, false
	return s.exchange, inline, true
}

// attachTo gives a parked request to c, the next round. It returns the reply that came meanwhile, and
// whether the server has asked for more.
func (s *inflightState) attachTo(c *Call) (held *upstream.Reply, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = pool.Unanswered(s.requests)
	s.receiver = c
	return s.heldReply, len(s.requests) > 0 && s.heldReply == nil
}
