package proxy

import (
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxPauses bounds the calls whose clients were asked for input and have not
// come back.
const maxPauses = 10_000

// A pause is a call between two rounds of revision 2026-07-28: its client was
// asked for input, and is to send it with the same call again. The call has
// passed the gate and is still open there.
type pause struct {
	id     string
	ticket *admission.Ticket
	call   *toolCall // the first round

	// Of an upstream of the older era, which waits for the answers.
	flight *flight
	asked  map[string]*upstream.Inquiry // by the keys of the questions

	timer *time.Timer
}

// pauses are those that there are. Each ends once: its client comes back, or
// its time is over.
type pauses struct {
	mu   sync.Mutex
	byID map[string]*pause
	own  share
}

// add keeps x for a time, after which over is called; false: there are too many,
// or where there are several principals, too many of this one.
func (s *pauses) add(x *pause, several bool, life time.Duration, over func(*pause)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.own.take(x.call.client.principal, maxPauses, several); !ok {
		return false
	}
	if s.byID == nil {
		s.byID = map[string]*pause{}
	}
	s.byID[x.id] = x
	x.timer = time.AfterFunc(life, func() {
		if s.take(x.id) != nil {
			over(x)
		}
	})
	return true
}

// take ends a pause; nil: it is over already.
func (s *pauses) take(id string) *pause {
	s.mu.Lock()
	x := s.byID[id]
	delete(s.byID, id)
	s.mu.Unlock()
	if x != nil {
		s.own.give(x.call.client.principal)
		x.timer.Stop()
	}
	return x
}

// paused says that the rounds of a call of an upstream of the newer era were
// not gone on with: nothing more happens.
func (p *Proxy) paused(x *pause) {
	p.log.Info("the client did not come back with what it was asked for", "tool", x.call.tool.canonical, "call", x.ticket.Number)
	p.settle(x.call.client.session, x.ticket, gate.Failure, "no input")
	p.abandon(x.ticket)
}

// result is the answer that asks the client for input: that of the upstream,
// with our state in the place of its own.
func withState(result []byte, state string) []byte {
	if _, has := rawjson.Member(result, "requestState"); has {
		return wire.ReplaceMember(nil, result, "requestState", rawjson.AppendString(nil, state))
	}
	return wire.AppendStamped(nil, result, stateMember(state))
}
