package pipeline

import (
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// maxSuspended limits the calls whose clients were asked for input and have not returned with it.
const maxSuspended = 10_000

// A suspendedCall is a call between two rounds (2026-07-28): its client has received an
// InputRequiredResult, and sends the call again with the responses. The gate has admitted the call,
// which is still open there. If other processes can continue it, [Options.Rounds] stores it, and
// otherwise [suspendedCalls].
type suspendedCall struct {
	id     string
	ticket *admission.Ticket
	call   *Call // the first round; nil: Rounds stored the call

	approved *rounds.Approved // members that a person approved; nil: no person was asked

	// For an upstream of 2025-11-25, which waits for the answers.
	inflight *inflightCall
	asked    map[string]*upstream.ServerRequest // server's requests by the keys of inputRequests

	timer *time.Timer
}

// suspendedCalls is the table of suspended calls. Each suspension ends once: its client returns, or
// it expires. mu guards byID.
type suspendedCalls struct {
	mu    sync.Mutex
	byID  map[string]*suspendedCall
	quota session.Quota
}

// add keeps x for the duration life, and then calls over with it. It reports false if too many
// calls are suspended in total or, if several principals use the proxy, for this principal.
func (s *suspendedCalls) add(x *suspendedCall, several bool, life time.Duration, over func(*suspendedCall)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.quota.Take(x.call.Client.Principal, maxSuspended, several); !ok {
		return false
	}
	if s.byID == nil {
		s.byID = map[string]*suspendedCall{}
	}
	s.byID[x.id] = x
	x.timer = time.AfterFunc(life, func() {
		if s.take(x.id) != nil {
			over(x)
		}
	})
	return true
}

// take ends a suspension and returns its call, or nil if the suspension is over already.
func (s *suspendedCalls) take(id string) *suspendedCall {
	s.mu.Lock()
	x := s.byID[id]
	delete(s.byID, id)
	s.mu.Unlock()
	if x != nil {
		s.quota.Give(x.call.Client.Principal)
		x.timer.Stop()
	}
	return x
}
