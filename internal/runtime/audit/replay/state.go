package replay

import (
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// A State is where the nets of a session stand as records tell it.
type State struct {
	Unknown map[string]string // nets of which the records do not tell where they stand, with the reason

	policy *gate.Policy
	state  *gate.State
}

// Nets returns the states of the nets, in the order of the policy. Values of keys are SHA-256
// hashes of them.
func (s *State) Nets() []gate.NetState { return s.policy.NetsOf(s.state) }

// Unbegun is the reason of a session whose begin is not among the records.
const Unbegun = "the session may have begun before the oldest record that was read"

const reopened = "the session was closed and opened again, perhaps with calls under way"

// State returns where the nets of a session stand after the records so far, by the clock at the
// time. The reason is not empty where the records tell it of no net.
//
// What it returns is so: every verdict of the session came out as it is on record, and a
// session or a shared net whose begin is not on record is not guessed at. The policy must
// be the one on record.
func (r *Replay) State(id string, at time.Time) (state *State, reason string) {
	s := r.sessions[id]
	switch {
	case s == nil:
		return nil, Unbegun
	case s.lost != "":
		return nil, s.lost
	case s.partial, r.cut && (r.durable(s.process) || !s.first):
		return nil, Unbegun
	}
	unknown := map[string]string{}
	for i := range r.nets {
		if why := r.untold(s, i); why != "" {
			unknown[r.nets[i].name] = why
		}
	}
	var own *gate.State
	s.with(func(state *gate.State) { own = state.Clone() })
	own.Apply(r.policy.Tick(own, at))
	return &State{unknown, r.policy, own}, ""
}

// untold says why the records do not tell where the net stands; empty: they do.
func (r *Replay) untold(s *session, net int) string {
	if r.nets[net].advisory {
		return "an advisory net yields by the tools that were offered, which are not on record"
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
			return "the net is shared with other sessions, and was perhaps moved before the oldest record that was read"
		}
	}
	return ""
}

// miss notes that the nets were not asked about a call.
func (s *session) miss(gone map[int]string) {
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

// lose notes that it is not known any more where the nets stand.
func (s *session) lose(why string) {
	if s.lost == "" {
		s.lost = why
	}
	for _, p := range s.parts {
		if p.lost == "" {
			p.lost = why
		}
	}
}

// loseAll is [session.lose] of all sessions.
func (r *Replay) loseAll(why string) {
	for _, s := range r.sessions {
		s.lose(why)
	}
	for _, p := range r.parts {
		p.lost = why
	}
}

// follow notes whether the nets stand where they stood when the decision was made: whether
// each verdict came out as it is on record.
func (r *Replay) follow(e *trail.Entry, s *session, v *verdict) {
	if s.lost != "" || s.partial {
		return
	}
	if e.Policy != r.report.Policy {
		s.lose("a call was decided under another policy")
		return
	}
	was := e.Decision.Decision
	if was == "allow" && !s.first {
		if s.first = true; r.cut && e.Call != 1 {
			s.lose(reopened)
			return
		}
	}
	switch {
	case was == "allow" && v.decision != "allow":
	case e.Kind == string(gate.KindStateChanged), e.Kind == string(gate.KindApproval), was == "ask":
		return // no net moves, and the nets may have moved while a person was asked
	case was == v.decision || r.anyMissed(s):
		if slices.Equal(r.spoken(r.told(s, e.Nets)), r.spoken(r.told(s, v.nets))) {
			return
		}
	}
	s.lose(fmt.Sprintf("the decision on %s at %s comes out otherwise than it is on record", e.Tool, e.Time.UTC().Format("15:04:05 MST")))
}

func (r *Replay) anyMissed(s *session) bool {
	return slices.ContainsFunc(s.parts, func(p *part) bool { return len(p.missed) > 0 }) || len(s.missed) > 0
}

// told are the verdicts of nets that did not miss a call.
func (r *Replay) told(s *session, nets []audit.NetSays) (known []audit.NetSays) {
	for _, n := range nets {
		i := slices.IndexFunc(r.nets, func(one netInfo) bool { return one.name == n.Net })
		missed := i >= 0 && (s.missed[i] != "" || slices.ContainsFunc(s.parts, func(p *part) bool { return p.missed[i] != "" }))
		if !missed {
			known = append(known, n)
		}
	}
	return known
}
