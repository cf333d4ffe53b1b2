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

// An inflightCall represents an admitted request to a server until the outcome of its call has been
// recorded. The request ends exactly once: when the server replies, when the connection is lost, or
// when the proxy abandons the request, for example after a timeout or because the client cancels
// the call. Without a reply, the outcome is unknown, unless the server certainly never started the
// call. If the server replies late, the outcome of that reply is still recorded.
type inflightCall struct {
	Call   *Call // the call that was admitted
	ticket *admission.Ticket
	rev    *rev.Rev // revision of the server

	token    int64             // progressToken sent to the server; 0 if none
	asTask   bool              // whether the request asks for a task (params.task of revision 2025-11-25)
	taskable bool              // whether the request declares support for tasks (2026-07-28)
	handle   *tasks.TaskHandle // task that the call has become; nil if none

	answered   func(admission.Result) // reports the reply to the observer of calls; nil if calls are not observed
	delaysExit atomic.Bool            // whether the proxy must not exit before the outcome has been recorded

	pool.QueuePlace // position among the calls in flight to the server
	inflightState
}

// InFlight returns the calls that are in flight to the server u.
func InFlight(u *pool.Server) (list []*inflightCall) {
	for _, one := range u.InFlight.All() {
		if f, ok := one.Request.(*inflightCall); ok {
			list = append(list, f)
		}
	}
	return list
}

// A stage describes the progress of an in-flight request. Requests pass through the stages in this
// order.
type stage int

const (
	pending stage = iota // the request has been neither answered nor abandoned
	ended                // the request has been answered or abandoned, but the end has not been reported to the gate
	settled              // the end of the request has been recorded and reported to the gate
)

// An inflightState is the state of an in-flight request. mu guards the other fields.
type inflightState struct {
	mu sync.Mutex
	requestState
	heldReply *upstream.Reply    // reply that arrived while no call was waiting for it
	exchange  *upstream.Exchange // exchange with the server; nil until the request is about to be sent
	late      *upstream.Reply    // reply that arrived after the request had ended but before its outcome was recorded
}

// A requestState holds the stage of an in-flight request, the call that receives its reply, and the
// requests made by the server during the call.
type requestState struct {
	stage    stage
	inline   bool                      // whether the goroutine that waits for the call sends the request and reads the reply itself
	receiver *Call                     // call whose client gets the response; nil while no call is waiting for the reply
	requests []*upstream.ServerRequest // the server's requests that are waiting for the client
	reason   error                     // why the request was abandoned, or nil
	counted  bool                      // whether the request counts among the abandoned calls that the server may still be working on
}

// Receiver returns the call whose client gets the response, or nil while no call is waiting for the
// reply.
func (s *inflightState) Receiver() *Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.receiver
}

// begin stores the [upstream.Exchange] of a request that is about to be sent. It returns false if
// the request was abandoned and must not be sent.
func (s *inflightState) begin(x *upstream.Exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason == nil {
		s.exchange = x
	}
	return s.reason == nil
}

// markSent stores the [upstream.Exchange] of a request that has been sent. If the request was
// abandoned in the meantime, markSent returns the reason.
func (s *inflightState) markSent(x *upstream.Exchange) (reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchange = x
	return s.reason
}

// markEnded ends the request with the reply r, unless it has already ended, and returns its
// previous state. If no call is waiting for the reply, markEnded stores r until the client sends
// the call again. If the server replies after the request has ended but before the outcome has been
// recorded, markEnded stores r as the late reply.
func (s *inflightState) markEnded(r upstream.Reply, fromServer bool) (before requestState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.requestState
	switch {
	case s.stage == ended && fromServer:
		s.late = new(r)
	case s.stage == pending && s.receiver == nil:
		s.heldReply = new(r)
	}
	if s.stage == pending {
		s.stage, s.requests = ended, nil
	}
	return before
}

// markSettled marks the outcome of the request as recorded. It returns the reply that arrived after
// the request had ended, or nil.
func (s *inflightState) markSettled() (late *upstream.Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stage = settled
	late, s.late = s.late, nil
	return late
}

// markAbandoned records the reason for abandoning the request, unless the request already has one.
// It returns the recorded reason and the exchange. The exchange is nil if the request has ended or
// has not been sent. If first is true, the caller must cancel the exchange and count it as
// abandoned.
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

// cause returns why no reply arrived. If the proxy canceled the request before the connection was
// lost, cause returns the reason for the cancellation; otherwise, it returns err.
func (s *inflightState) cause(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lost, ok := errors.AsType[*upstream.Lost](err); ok && lost.Sent && s.reason != nil {
		return s.reason
	}
	return err
}

// stopInline records that the waiting goroutine has stopped reading the reply. It returns the
// exchange that the goroutine was reading.
func (s *inflightState) stopInline() *upstream.Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inline = false
	return s.exchange
}

const callOver = "the call has ended"

// addRequest stores a server's request for the client. It returns the call whose client must be
// asked, or nil if no call is waiting for the server's reply. In that case, the client receives the
// request when it sends the call again. If the server's request must be refused, addRequest returns
// the reason.
func (s *inflightState) addRequest(q *upstream.ServerRequest) (receiver *Call, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stage != pending || s.reason != nil: // the request has ended or is being abandoned
		return nil, callOver
	case len(s.requests) >= spec.MaxInputs:
		return nil, "too many requests are waiting for the client"
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

// Holding reports whether the request is waiting for the client's input. During that time, the
// server's timeout does not apply.
func (s *inflightState) Holding() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = pool.RemoveAnswered(s.requests)
	return s.stage == pending && (s.receiver == nil || len(s.requests) > 0)
}

// parkFor detaches the request from the call c, so that no call waits for the reply until the
// client has provided input. It first passes the server's unanswered requests to ask while holding
// mu. If ask returns false, the request stays attached. parkFor returns the exchange with the
// server. It also reports whether the goroutine that waits for c was reading the reply, and whether
// the request was detached.
func (s *inflightState) parkFor(c *Call, ask func([]*upstream.ServerRequest) bool) (x *upstream.Exchange, inline, parked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stage != pending || s.receiver != c || !ask(pool.RemoveAnswered(s.requests)) { // the request has already been answered or detached, or ask does not accept the requests
		return nil, false, false
	}
	inline = s.inline
	s.receiver, s.inline = nil, false
	return s.exchange, inline, true
}

// attachTo attaches the request to c, the call that the client has sent again. It returns the
// reply, if it has already arrived. It also reports whether the server has made more requests.
func (s *inflightState) attachTo(c *Call) (held *upstream.Reply, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = pool.RemoveAnswered(s.requests)
	s.receiver = c
	return s.heldReply, len(s.requests) > 0 && s.heldReply == nil
}
