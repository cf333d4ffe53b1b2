package replay

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A session is a session in the log.
type session struct {
	state     *gate.State
	principal string
	process   string
	parts     []*part         // the parts that the session shares with other sessions
	calls     map[uint64]call // admitted calls that have not been settled yet, keyed by recorded number
	closed    bool
	partial   bool            // the session may have been opened before the log begins
	early     bool            // the session is certainly partial
	resumed   bool            // the session is partial unless its first admitted call has number 1
	policies  map[string]bool // the policies that made the session's decisions
	moved     time.Time       // last time that the session's nets fired
	missed    map[int]string  // those of the session's own nets that were not evaluated for some call, and the reason for each
	first     bool            // the session's first admitted call is recorded
	lost      string          // reason why the session's marking is unknown; empty: known
}

// A call is an admitted call.
type call struct {
	number uint64 // call number in the state
	made   bool   // false: the replayed policy refused the call
}

// A part is state that sessions share.
type part struct {
	nets  []int
	data  []*gate.NetData
	owner uint64
	moved time.Time

	missed map[int]string // see session.missed
	lost   string
}

// A partKey identifies a part. With the memory driver, each process has its own parts.
type partKey struct {
	scope   gate.Scope
	process string
	name    string
}

// with calls f with the session's state. During the call, this state also contains the states of
// the session's shared parts.
func (s *session) with(f func(*gate.State)) {
	for _, p := range s.parts {
		for k, i := range p.nets {
			s.state.Nets[i] = p.data[k]
		}
	}
	f(s.state)
	for _, p := range s.parts {
		for k, i := range p.nets {
			p.data[k] = s.state.Nets[i]
		}
	}
}

// markMoved records that the nets of the session and its parts have fired.
func (s *session) markMoved(at time.Time) {
	s.moved = at
	for _, p := range s.parts {
		p.moved = at
	}
}

// unmovedSince reports whether no net of the session has fired since the given time.
func (s *session) unmovedSince(since time.Time) bool {
	for _, p := range s.parts {
		if p.moved.After(since) {
			return false
		}
	}
	return !s.moved.After(since)
}

// markMissed records that nets were not evaluated for a call.
func (s *session) markMissed(gone map[int]string) {
	for net, why := range gone {
		to := &s.missed
		for _, p := range s.parts {
			if slices.Contains(p.nets, net) {
				to = &p.missed
			}
		}
		if *to == nil {
			*to = map[int]string{}
		}
		if (*to)[net] == "" {
			(*to)[net] = why
		}
	}
}

// markLost records that the marking of the session and its parts is unknown from this point on.
func (s *session) markLost(why string) {
	if s.lost == "" {
		s.lost = why
	}
	for _, p := range s.parts {
		if p.lost == "" {
			p.lost = why
		}
	}
}

const reopened = "the session was closed and reopened, perhaps with calls in flight"
