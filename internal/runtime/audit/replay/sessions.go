package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A session holds the replayed state of a session in the log.
type session struct {
	history  // history of the nets that are not shared
	state    *gate.State
	process  string
	parts    []*part         // state shared with other sessions
	calls    map[uint64]call // admitted calls whose outcomes have not been replayed yet, keyed by recorded number
	closed   bool
	partial  bool            // whether the session might have been opened before the log begins
	early    bool            // whether the session is partial because its first records might have been removed, or because the beginning of the log is missing and the policy of the session's process is unknown
	resumed  bool            // whether the session might be older than the log; it is treated as partial until its first admitted call. If that call has number 1, the session began in the log.
	policies map[string]bool // policies that decided on the session's calls
	first    bool            // whether an admitted call has been replayed
}

// A history records whether the replayed markings of a set of nets are reliable.
type history struct {
	moved  time.Time      // when transitions of the nets last fired
	missed map[int]string // why a net could not be evaluated for some call, keyed by net
	lost   string         // why the marking is unknown; empty if it is known
}

// A call is the replayed state of a recorded call that was admitted.
type call struct {
	number uint64 // the call's number in the replayed state, which can differ from the recorded number
	made   bool   // whether the replayed policy allowed the call too
}

// A part is the state of the nets shared by all sessions, or by the sessions of one principal.
type part struct {
	history
	nets  []int
	data  []*gate.NetData
	owner uint64
}

// A partKey identifies a [part]. If sessions do not outlive their process, each process has its own
// parts.
type partKey struct {
	scope   gate.Scope
	process string
	name    string
}

// withParts calls f with the session's state, including the current states of shared nets. It then
// stores the changes to shared nets, so that other sessions see them.
func (s *session) withParts(f func(*gate.State)) {
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

// histories returns the histories of the session's own nets and of the nets that it shares with
// others.
func (s *session) histories() []*history {
	all := []*history{&s.history}
	for _, p := range s.parts {
		all = append(all, &p.history)
	}
	return all
}

// markMoved records that transitions of the session's nets fired at the given time.
func (s *session) markMoved(at time.Time) {
	for _, h := range s.histories() {
		h.moved = at
	}
}

// unmovedSince reports whether no transition of the session's nets has fired after the given time.
func (s *session) unmovedSince(since time.Time) bool {
	return !slices.ContainsFunc(s.histories(), func(h *history) bool { return h.moved.After(since) })
}

// markMissed records why some nets could not be evaluated for a call.
func (s *session) markMissed(reasons map[int]string) {
	for net, why := range reasons {
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

// markLost records that the markings of the session's nets, including shared ones, are unknown from
// now on.
func (s *session) markLost(why string) {
	for _, h := range s.histories() {
		h.lost = cmp.Or(h.lost, why)
	}
}

const reopened = "the session was closed and reopened, perhaps with calls in flight"
