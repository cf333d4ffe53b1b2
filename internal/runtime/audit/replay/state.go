package replay

import (
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// A State is the replayed marking of a session.
type State struct {
	Unknown map[string]string // reasons why markings are unknown, keyed by the name of the net

	policy *gate.Policy
	state  *gate.State
}

// Nets returns the states of the nets, in policy order. Key values are given as their SHA-256
// hashes.
func (s *State) Nets() []gate.NetState { return s.policy.NetsOf(s.state) }

// UnknownBeginning is the reason why a marking is unknown if the session might have begun before
// the log.
const UnknownBeginning = "the session may have begun before the oldest available record"

// State returns the markings of a session's nets after the records replayed so far, with the nets'
// clocks advanced to the given time. If all markings are unknown, for example because the log lacks
// the session's beginning, State returns nil and the reason.
//
// The result's field Unknown lists the nets whose markings are unknown. All other markings are
// certain: the log contains the history of the session and of its shared nets from the beginning,
// the calls were decided under the replayed policy, and the replayed decisions agree with the
// recorded ones.
func (r *Replay) State(id string, at time.Time) (state *State, reason string) {
	s := r.sessions[id]
	switch {
	case s == nil:
		return nil, UnknownBeginning
	case s.lost != "":
		return nil, s.lost
	case s.partial, r.cut && (r.durable(s.process) || !s.first):
		return nil, UnknownBeginning
	}
	unknown := map[string]string{}
	for i := range r.nets {
		if why := r.whyUnknown(s, i); why != "" {
			unknown[r.nets[i].name] = why
		}
	}
	var own *gate.State
	s.withParts(func(state *gate.State) { own = state.Clone() })
	own.Apply(r.policy.Tick(own, at))
	return &State{unknown, r.policy, own}, ""
}

// whyUnknown returns the reason why the marking of the net is unknown, or "" if the marking is
// known. The caller must first check s.lost and s.partial, which concern all nets.
func (r *Replay) whyUnknown(s *session, net int) string {
	if r.nets[net].advisory {
		return "an advisory net yields depending on the offered tools, which are not recorded"
	}
	if why := s.missed[net]; why != "" {
		return why
	}
	for _, p := range s.parts {
		switch {
		case !slices.Contains(p.nets, net):
		case p.lost != "":
			return p.lost
		case p.missed[net] != "":
			return p.missed[net]
		case r.cut && r.durable(s.process) || !r.durable(s.process) && r.drivers[s.process] == "":
			return "the net is shared with other sessions, and may have changed before the oldest available record"
		}
	}
	return ""
}

// checkTracked checks that the replayed verdicts agree with the recorded ones. If not, the replayed
// marking has diverged from the live one, so checkTracked marks the session's markings as unknown.
func (r *Replay) checkTracked(e *trail.Entry, s *session, v *verdict) {
	if s.lost != "" || s.partial {
		return
	}
	if e.Policy != r.report.Policy {
		s.markLost("a call was decided under another policy")
		return
	}
	was := e.Decision.Decision
	if was == "allow" && !s.first {
		if s.first = true; r.cut && e.Call != 1 {
			s.markLost(reopened)
			return
		}
	}
	switch {
	case was == "allow" && v.decision != "allow":
	case e.Kind == string(gate.KindStateChanged), e.Kind == string(gate.KindApproval), was == "ask":
		return // the verdicts may differ, because the nets may have changed while a person was being asked; the marking stays correct, because this call fires no transitions
	case was == v.decision || s.anyMissed():
		if slices.Equal(r.verdictLines(r.withoutMissed(s, e.Nets)), r.verdictLines(r.withoutMissed(s, v.nets))) {
			return
		}
	}
	s.markLost(fmt.Sprintf("the replayed decision on %s at %s differs from the recorded one", e.Tool, e.Time.UTC().Format("15:04:05 MST")))
}

func (s *session) anyMissed() bool {
	return slices.ContainsFunc(s.histories(), func(h *history) bool { return len(h.missed) > 0 })
}

// withoutMissed returns the verdicts of those nets that could be evaluated for every call.
func (r *Replay) withoutMissed(s *session, nets []audit.NetVerdict) (known []audit.NetVerdict) {
	histories := s.histories()
	for _, n := range nets {
		i := slices.IndexFunc(r.nets, func(one netInfo) bool { return one.name == n.Net })
		if !slices.ContainsFunc(histories, func(h *history) bool { return h.missed[i] != "" }) {
			known = append(known, n)
		}
	}
	return known
}
