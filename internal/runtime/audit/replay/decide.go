package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// decide repeats a recorded decision and compares the result with the record.
func (r *Replay) decide(record *trail.Record, e *trail.Entry) {
	if !madeByPolicy(e) {
		r.report.Others++
		return
	}
	r.report.Decisions++
	r.fingerprints[e.Policy] = true
	c, gone := r.reconstruct(e)
	s := r.session(e, c.Time)
	s.policies[e.Policy] = true
	admit := e.Decision.Decision == "allow"
	if admit && s.resumed {
		s.resumed = false
		s.partial = s.early || e.Call != 1
	}
	var v verdict
	s.withParts(func(state *gate.State) {
		for i := range gone {
			r.switchIn(state, r.nets[i].name, false)
		}
		v = r.ask(state, c, e.Approval != "", admit)
	})
	if admit {
		made := v.decision == "allow"
		s.calls[e.Call] = call{number: v.number, made: made}
		if made {
			s.markMoved(e.Time)
		}
	}
	s.markMissed(gone)
	r.checkTracked(e, s, &v)
	r.compare(record, e, s, &v, gone)
}

// ask decides on a recorded call under the replayed policy. If the policy requires approval, ask
// grants it only if approved and admit are both true: the record names an approval request, and the
// call was admitted. The call fires transitions only if it was admitted and the replayed policy
// also allows it.
func (r *Replay) ask(state *gate.State, c gate.Call, approved, admit bool) (v verdict) {
	r.prepared.Reset(r.policy, &c)
	d, delta := r.prepared.Decide(state, nil)
	if a, ok := d.(*gate.Ask); ok && approved && admit {
		state.Apply(delta)
		d, delta = r.prepared.Decide(state, a.Grant())
		if _, ok := d.(*gate.Ask); ok {
			state.Apply(a.Withdraw())
		}
	}
	switch d := d.(type) {
	case *gate.Allow:
		v.decision, v.number = "allow", d.Ticket.Number
		v.nets = r.netResults(d.Nets)
		if d.Would != nil {
			if v.would = "refuse"; d.Would.Kind == gate.KindApproval {
				v.would = "ask"
			}
		}
		if admit {
			state.Apply(delta)
		}
	case *gate.Refusal:
		v.decision, v.kind, v.reason = "refuse", d.Kind, d.Text
		v.nets = r.netResults(r.prepared.Verdicts())
		for _, b := range d.Blocks {
			i := slices.IndexFunc(v.nets, func(n audit.NetVerdict) bool { return n.Net == b.Net })
			if i < 0 {
				i = len(v.nets)
				v.nets = append(v.nets, audit.NetVerdict{Net: b.Net, Rule: r.where(b.Rule)})
			}
			v.nets[i].Verdict = audit.VerdictName(gate.Blocked)
		}
		state.Apply(delta)
	case *gate.Ask:
		v.decision = "ask"
		v.nets = list.Map(d.Steps, func(s gate.Step) audit.NetVerdict {
			return audit.NetVerdict{Net: s.Net, Verdict: "asks", Rule: r.where(s.Rule)}
		})
	}
	return v
}

func (r *Replay) netResults(verdicts []gate.Verdict) []audit.NetVerdict {
	return list.Map(verdicts, func(v gate.Verdict) audit.NetVerdict {
		return audit.NetVerdict{Net: v.Net, Verdict: audit.VerdictName(v.Kind), Transition: v.Transition, Rule: r.where(v.Rule), Shadow: v.Shadow}
	})
}

// compare compares a replayed decision with the recorded one and counts the result in the report.
func (r *Replay) compare(record *trail.Record, e *trail.Entry, s *session, v *verdict, gone map[int]string) {
	same := e.Policy == r.report.Policy
	agrees := r.agrees(e, v, same)
	why := r.unknownReason(e, s, v, gone, agrees)
	switch {
	case why != "":
		r.report.Unknown++
		r.reasons[why]++
		return
	case agrees:
		r.report.Agreed++
		return
	case same:
		r.report.Wrong++
	default:
		r.report.Different++
	}
	r.count(e, v)
	if r.report.First != nil && r.differs == nil {
		return
	}
	d := &Divergence{
		Writer: record.Writer, Seq: record.Seq, Time: e.Time, Session: e.Session, Tool: e.Tool, Names: e.Names, Wrong: same, Was: recordedDecision(e), Now: v.decision,
		Recorded: formatDecision(e.Decision.Decision, e.Kind, e.Nets), Replayed: formatDecision(v.decision, string(v.kind), v.nets), Reason: v.reason,
	}
	r.report.First = cmp.Or(r.report.First, d)
	if r.differs != nil {
		r.differs(d)
	}
}

// agrees reports whether the replayed decision equals the recorded one. If samePolicy is true, the
// record was made under the replayed policy. Then, unless a person was asked, agrees also compares
// the kind of the refusal, all verdicts, and the decision that nets in shadow mode would have made.
// A recorded refusal of kind [gate.KindStateChanged] agrees with every decision that does not allow
// the call.
func (r *Replay) agrees(e *trail.Entry, v *verdict, samePolicy bool) bool {
	was := recordedDecision(e)
	switch {
	case e.Kind == string(gate.KindStateChanged):
		return v.decision != "allow"
	case was != v.decision:
		return false
	case !samePolicy || was == "ask":
		return true
	}
	if was == "refuse" && e.Kind != string(v.kind) {
		return false
	}
	would := ""
	if e.Would != nil {
		would = e.Would.Decision
	}
	return would == v.would && slices.Equal(r.verdictLines(e.Nets), r.verdictLines(v.nets))
}

// Reasons why it is unknown whether a decision agrees with the record, except reasons that concern
// a single net.
const (
	BeforeFirst    = "the log does not contain what came before its first record"
	MovedMeanwhile = "the nets changed while a person was being asked"
)

// unknownReason explains why it is unknown whether the replayed decision agrees with the recorded
// one. It returns "" if this is known.
func (r *Replay) unknownReason(e *trail.Entry, s *session, v *verdict, gone map[int]string, agrees bool) string {
	for i, n := range r.nets {
		if why, ok := gone[i]; ok {
			return why
		}
		if n.concerns(r.current.names) && r.takenOut(s, i) {
			return fmt.Sprintf("the net %s depends on earlier calls that the record describes incompletely", n.name)
		}
	}
	switch {
	case agrees:
		return ""
	case s.partial || r.cut && len(s.parts) > 0:
		return BeforeFirst
	case len(s.policies) > 1 && s.policies[r.report.Policy]:
		return "the session ran under several policies"
	case slices.ContainsFunc(r.nets, func(n netInfo) bool { return n.advisory }):
		return "advisory nets yield depending on the offered tools, which are not recorded"
	case e.Kind == string(gate.KindApproval) || e.Decision.Decision == "ask":
		if called := e.Called; called.IsZero() || !s.unmovedSince(called) {
			return MovedMeanwhile
		}
	}
	return ""
}

// takenOut reports whether the net was deactivated in the session by the replay, not by an
// operator.
func (r *Replay) takenOut(s *session, i int) bool {
	active := false
	s.withParts(func(state *gate.State) { active = state.Nets[i].Active })
	return !active && (r.active == nil || slices.Contains(r.active, r.nets[i].name))
}

// count adds a decision that differs from the record to the counts of all rules responsible for the
// difference. If no rule is responsible, the decision is counted without a rule.
func (r *Replay) count(e *trail.Entry, v *verdict) {
	c := RuleCount{Now: v.decision, Was: recordedDecision(e)}
	behind, verdicts := v.nets, "blocked asks"
	if v.decision == "allow" || v.decision == "ask" && c.Was == "refuse" {
		behind, verdicts = e.Nets, "blocked"
	}
	counted := false
	for _, n := range behind {
		if strings.Contains(verdicts, n.Verdict) && n.Verdict != "" {
			c.Net, c.Rule, counted = n.Net, n.Rule, true
			r.rules[c]++
		}
	}
	if !counted {
		r.rules[c]++
	}
}
