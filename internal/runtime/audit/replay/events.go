package replay

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// Add replays the next record.
func (r *Replay) Add(record *trail.Record, e *trail.Entry) {
	r.report.Records++
	if !r.writers[record.Writer] {
		r.writers[record.Writer] = true
		r.cut = r.cut || record.Seq > 1
	}
	switch e.Event {
	case "start":
		if e.Process != "" {
			r.drivers[e.Process] = cmp.Or(e.Driver, r.drivers[e.Process])
		}
	case "policy":
		r.policyRecorded[e.Process] = true
		r.load(e)
	case "removed":
		r.cut = true
	case "session opened":
		r.open(e)
	case "session closed":
		if s := r.sessions[e.Session]; s != nil {
			s.closed = true
			r.forget(e.Session, s)
		}
	case "decision":
		r.decide(record, e)
	case "outcome":
		r.end(e, gate.End{Outcome: outcomes[e.Outcome], Result: r.current.endResult(e.Values)})
	case "settle success":
		r.end(e, gate.End{Outcome: gate.Success, All: true})
	case "settle failure":
		r.end(e, gate.End{Outcome: gate.Failure, All: true})
	case "reset":
		if s := r.sessions[e.Session]; s != nil {
			s.withParts(func(state *gate.State) { state.Apply(r.policy.Reset(state)) })
			s.markMoved(e.Time)
		}
	case "activate", "deactivate":
		r.toggle(e.Net, e.Event == "activate", e.Time)
	case "resumed":
		r.markAllLost("petrigate could not write records for a while")
	}
}

var outcomes = map[string]gate.Outcome{"success": gate.Success, "failure": gate.Failure, "unknown": gate.Unknown}

// load stores the description of a policy from the log. The description tells which values are
// recorded for calls under that policy. If that policy is the replayed one, load also updates the
// set of active nets.
func (r *Replay) load(e *trail.Entry) {
	set := func(list []string) map[string]bool {
		m := map[string]bool{}
		for _, s := range list {
			m[s] = true
		}
		return m
	}
	r.policies[e.Policy] = recordedPolicy{set(e.Fields), set(e.Results), set(e.Maps), set(e.Actions), e.Arguments == audit.Full}
	none := r.active != nil && len(r.active) == 0 // in a record, an empty list can mean no nets or all nets
	if e.Policy == r.report.Policy && (len(e.Active) > 0 || !none) {
		r.active = e.Active
	}
}

// open starts a session, or resumes a session that the same process opened before or that has
// outlived its process. If the beginning of the log is missing, open marks a new session as partial
// if it might have been opened earlier, or if its active nets are unknown.
func (r *Replay) open(e *trail.Entry) {
	if old := r.sessions[e.Session]; old != nil && (old.process == e.Process || r.durable(e.Process)) {
		if old.closed {
			old.markLost(reopened)
		}
		old.closed = false
		return
	}
	s := r.begin(e, e.Time)
	s.resumed = r.cut && r.durable(e.Process)
	s.early = e.Time.Before(r.since) || r.cut && !r.policyRecorded[e.Process]
	s.partial = s.resumed || s.early
	if old := r.sessions[e.Session]; old != nil && old.process == "" { // the process of the old session is unknown; if this record reopens that session, the marking is unknown
		s.markLost(reopened)
	}
	r.sessions[e.Session] = s
}

// forget removes a session once it is closed and has no open calls.
func (r *Replay) forget(id string, s *session) {
	if s.closed && len(s.calls) == 0 {
		delete(r.sessions, id)
	}
}

// toggle activates or deactivates a net in all sessions. While a net is inactive, its clock stands
// still.
func (r *Replay) toggle(net string, on bool, at time.Time) {
	if active, err := r.policy.Switch(r.active, net, on); err == nil {
		r.active = active
	}
	all := slices.Collect(maps.Values(r.sessions))
	for _, p := range r.parts { // include the shared states, even if no open session uses them
		all = append(all, &session{state: r.policy.NewState(r.active), parts: []*part{p}})
	}
	for _, s := range all {
		s.withParts(func(state *gate.State) { state.Apply(r.policy.Tick(state, at)) })
	}
	for _, s := range all { // must come last: Tick must not start the clock of a shared net that has just been reactivated
		s.withParts(func(state *gate.State) { r.switchIn(state, net, on) })
	}
}

// end applies the recorded end of a call to the replayed state.
func (r *Replay) end(e *trail.Entry, how gate.End) {
	s := r.sessions[e.Session]
	if s == nil {
		return
	}
	c, ok := s.calls[e.Call]
	if !ok {
		return
	}
	if c.made {
		how.Time = e.Time
		end := r.policy.PrepareEnd(how)
		s.withParts(func(state *gate.State) { state.Apply(end.Settle(state, c.number)) })
		s.markMoved(e.Time)
	}
	if how.Outcome != gate.Unknown {
		delete(s.calls, e.Call)
		r.forget(e.Session, s)
	}
}

// markAllLost records that the markings of all nets, in all sessions, are unknown from now on.
func (r *Replay) markAllLost(why string) {
	for _, s := range r.sessions {
		s.markLost(why)
	}
	for _, p := range r.parts {
		p.lost = why
	}
}
