package pipeline

import (
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
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

// pickUp ends the suspension of the call that c continues, and returns that call, or nil if the
// suspension is over. If several processes store the call, exactly one picks it up. If pickUp
// returns an error, such as while calls are stopped, the suspension stays.
func (p *Pipeline) pickUp(c *Call) (*suspendedCall, error) {
	if p.Admission.Stopped(c.State.ID) != nil {
		return nil, admission.ErrStopped
	}
	x := p.suspended.take(c.input.suspended)
	if x != nil || p.Rounds == nil {
		return x, nil
	}
	r, err := p.Rounds.Take(c.State.Key(), c.input.suspended, c.subject())
	if r == nil {
		return nil, err
	}
	return &suspendedCall{ticket: r.Ticket, approved: r.Approved}, nil
}

// notResumed settles a call whose client did not return. Its server (2026-07-28) ended its part
// with the InputRequiredResult.
func (p *Pipeline) notResumed(x *suspendedCall) {
	p.Life.Log.Info("the client did not come back with what it was asked for", "tool", x.call.Tool.Canonical, "call", x.ticket.Number)
	p.settle(x.call.State, x.ticket, gate.End{Outcome: gate.Failure}, "no input")
	p.abandon(x.ticket)
}

// withState returns an InputRequiredResult with the proxy's requestState in place of the server's.
func withState(result []byte, state string) []byte {
	return wire.SetMember(result, "requestState", rawjson.AppendString(nil, state))
}
