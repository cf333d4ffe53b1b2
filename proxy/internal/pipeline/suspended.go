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

// maxSuspended bounds the calls whose clients were asked for input and have not
// come back.
const maxSuspended = 10_000

// A suspendedCall is a call between two rounds (2026-07-28): its client has an
// InputRequiredResult, and is to send the call again with the responses. The call has
// passed the gate and is still open there. Where other processes may go on with it, it is
// kept by [Options.Rounds], and else by [suspendedCalls].
type suspendedCall struct {
	id     string
	ticket *admission.Ticket
	call   *Call // the first round; nil: it was kept by Rounds

	approved *rounds.Approved // what a person approved; nil: no person was asked

	// Of an upstream of 2025-11-25, which waits for the answers.
	inflight *inflightCall
	asked    map[string]*upstream.ServerRequest // by the keys of the questions

	timer *time.Timer
}

// suspendedCalls holds the suspended calls. Each ends once: its client comes back, or its
// time is over.
type suspendedCalls struct {
	mu   sync.Mutex
	byID map[string]*suspendedCall
	own  session.Quota
}

// add keeps x for a time, after which it calls over. It reports false where there are too
// many, or too many of this one among several principals.
func (s *suspendedCalls) add(x *suspendedCall, several bool, life time.Duration, over func(*suspendedCall)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.own.Take(x.call.Client.Principal, maxSuspended, several); !ok {
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

// take ends a suspension, and returns its call; nil: it is over already.
func (s *suspendedCalls) take(id string) *suspendedCall {
	s.mu.Lock()
	x := s.byID[id]
	delete(s.byID, id)
	s.mu.Unlock()
	if x != nil {
		s.own.Give(x.call.Client.Principal)
		x.timer.Stop()
	}
	return x
}

// pickUp ends the suspension of the call that c goes on with; nil: it is over. Of the
// processes that have it, one picks it up. With an error it stays as it was, as it does while
// calls are stopped.
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

// notResumed settles a call whose client did not come back. Its server (2026-07-28) has
// ended its part with the InputRequiredResult.
func (p *Pipeline) notResumed(x *suspendedCall) {
	p.Life.Log.Info("the client did not come back with what it was asked for", "tool", x.call.Tool.Canonical, "call", x.ticket.Number)
	p.settle(x.call.State, x.ticket, gate.End{Outcome: gate.Failure}, "no input")
	p.abandon(x.ticket)
}

// withState returns an InputRequiredResult with the proxy's requestState in place of the
// server's.
func withState(result []byte, state string) []byte {
	return wire.SetMember(result, "requestState", rawjson.AppendString(nil, state))
}
