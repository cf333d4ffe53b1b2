package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A session is a session in the log.
type session struct {
	history  // of the session's own nets
	state    *gate.State
	process  string
	parts    []*part         // the parts that the session shares with other sessions
	calls    map[uint64]call // admitted calls that have not been settled yet, keyed by recorded number
	closed   bool
	partial  bool            // the session may have been opened before the log begins
	early    bool            // the session is certainly partial
	resumed  bool            // the session is partial unless its first admitted call has number 1
	policies map[string]bool // the policies that made the session's decisions
	first    bool            // the session's first admitted call is recorded
}

// A history describes how reliable the replayed marking of some nets is.
type history struct {
	moved  time.Time      // last time that the nets fired
	missed map[int]string // nets that were not evaluated for some call, and the reason for each
	lost   string         // reason why the marking is unknown; empty: known
}

// A call is an admitted call.
type call struct {
	number uint64 // call number in the state
	made   bool   // false: the replayed policy refused the call
}

// A part is state that sessions share.
type part struct {
	history
	nets  []int
	data  []*gate.NetData
	owner uint64
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

// histories returns the histories of the session and its parts.
func (s *session) histories() []*history {
	all := []*history{&s.history}
	for _, p := range s.parts {
		all = append(all, &p.history)
	}
	return all
}

// markMoved records that the nets of the session and its parts have fired.
func (s *session) markMoved(at time.Time) {
	for _, h := range s.histories() {
		h.moved = at
	}
}

// unmovedSince reports whether no net of the session has fired since the given time.
func (s *session) unmovedSince(since time.Time) bool {
	return !slices.ContainsFunc(s.histories(), func(h *history) bool { return h.moved.After(since) })
}

// markMissed records that nets were not evaluated for a call.
func (s *session) markMissed(gone map[int]string) {
	for net, why := range gone {
		to := &s.history
		for _, p := range s.parts {
			if slices.Contains(p.nets, net) {
				to = &p.history
			}
		}
		if to.missed == nil {
			to.missed = map[int]string{}
		}
		to.missed[net] = cmp.Or(to.missed[net], why)
	}
}

// markLost records that the marking of the session and its parts is unknown from this point on.
func (s *session) markLost(why string) {
	for _, h := range s.histories() {
		h.lost = cmp.Or(h.lost, why)
	}
}

const reopened = "the session was closed and reopened, perhaps with calls in flight"
