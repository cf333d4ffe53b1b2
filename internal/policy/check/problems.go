package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// What a verification finds.
const (
	codeRefuted   = "E301" // a claim that does not hold
	codeNever     = "W301" // a tool that can never be called
	codeFailing   = "W302" // a tool that can be called only after a failure
	codeDeadlock  = "W303" // a run after which nothing that a group gates can be called
	codeRedundant = "W304" // a net that never changes a verdict
	codeUnproved  = "W305" // a claim that could not be settled
	codeDead      = "W306" // a transition that can never fire
	codeMilder    = "W307" // a map whose calls have the name of a stricter one too
)

// whyDefault is why a name can never be called of which no net speaks.
const whyDefault = "the default refuses what no rule and no net knows"

// Problems are what is wrong with the policy, and what is doubtful.
func (v *Findings) Problems() diag.List {
	var ps diag.List
	for _, p := range v.proofs {
		switch p.Result {
		case verify.Refuted:
			ps = append(ps, v.refuted(p))
		case verify.Unknown:
			q := at(diag.Warning, codeUnproved, p.Rule, "not known: "+p.Text)
			q.Hint = p.Why
			ps = append(ps, q)
		}
	}
	return slices.Concat(ps, v.uncallable(), v.deadTransitions(), v.failing(), v.deadlocks(), v.redundant(), v.milder())
}

func at(severity diag.Severity, code string, pos gate.Position, message string) diag.Problem {
	return diag.Problem{Severity: severity, Code: code, File: pos.File, Line: pos.Line, Column: pos.Column, Msg: message}
}

// refuted is a claim that does not hold, with the run that shows it.
func (v *Findings) refuted(p proven) diag.Problem {
	q := at(diag.Error, codeRefuted, p.Rule, "refuted: "+p.Text)
	switch {
	case len(p.Counterexample) > 0:
		q.Detail = "  these calls are admitted" + brokenBy(p) + ":\n" + steps(p.Counterexample) + noEvidence(p)
	case len(p.Because) > 0:
		q.Hint = "because of " + together(p.Because)
	case p.Default:
		q.Hint = whyDefault
	case p.Kind == rules.AlwaysPossible || p.Kind == rules.DeadlockFree || p.Kind == rules.NoTerminalStates || p.Kind == rules.Exclusive:
		q.Hint = "it does not hold at the start already"
	}
	q.Detail += v.refutingState(p)
	if q.Hint == "" && p.Why != "" {
		q.Hint = p.Why
	}
	return q
}

// brokenBy says what is wrong at the end of the counterexample.
func brokenBy(p proven) string {
	switch p.Kind {
	case rules.AtMost:
		return fmt.Sprintf(", and more than %d of them are %s", p.Count, text.Escape(p.Tool.Name))
	case rules.NeverBefore:
		return fmt.Sprintf(", and the last %s has no successful %s of its own before it", text.Escape(p.Tool.Name), text.Escape(p.First.Name))
	case rules.NeverWithoutApproval:
		return ", and nobody is asked about the last"
	case rules.AlwaysPossible:
		return ", and no calls that succeed lead to " + text.Escape(p.Tool.Name) + " from there"
	case rules.DeadlockFree, rules.NoTerminalStates:
		return ", and no call that " + p.Net + " gates can be made after them"
	case rules.Conserved:
		return ", and " + p.Net + " does not keep its tokens"
	case rules.Exclusive:
		if slices.ContainsFunc(p.Counterexample, func(s verify.Step) bool { return s.Ends && s.Outcome == gate.Unknown }) {
			return ", and two of the places are taken then, one by a call that may still run"
		}
		return ", and two of the places are marked then"
	}
	return ""
}

// noEvidence says of successes in the run why they are none of the one that the
// claim waits for.
func noEvidence(p proven) string {
	var b strings.Builder
	for i, s := range p.Counterexample {
		if p.Kind == rules.NeverBefore && s.Weak && s.Name == p.First.Name && (s.Times > 0 || succeeds(p.Counterexample[i:])) {
			fmt.Fprintf(&b, "  step %d is no evidence: of such a call it cannot be told whether %s succeeded\n", len(Story(p.Counterexample[:i]))+1, text.Escape(s.Name))
		}
	}
	return b.String()
}

// succeeds reports whether the call with which the run begins ends so.
func succeeds(t verify.Trace) bool {
	return slices.ContainsFunc(t, func(s verify.Step) bool { return s.Ends && s.Call == t[0].Call && s.Outcome == gate.Success })
}

// uncallable are the names that nobody can ever call. Where that is what a
// block says, or the default of a tool that no net speaks of, nothing is wrong.
func (v *Findings) uncallable() diag.List {
	var ps diag.List
	names := make(map[string][]string) // by what causes it
	because := make(map[string][]verify.Net)
	var causes []string
	for _, n := range v.names {
		if !v.dies(n) {
			continue
		}
		cause := together(n.Because)
		if names[cause] == nil {
			causes = append(causes, cause)
			ps = append(ps, at(diag.Warning, codeNever, v.forbids(n), ""))
		}
		names[cause], because[cause] = append(names[cause], written(n.Tool)), n.Because
	}
	for i, cause := range causes {
		ps[i].Msg = text.And(text.EscapeAll(names[cause])) + " can never be called"
		if cause == "" {
			ps[i].Hint = whyDefault
			continue
		}
		ps[i].Msg += ", because of " + cause
		ps[i].Detail = v.reasons(because[cause])
		for _, name := range names[cause] {
			ps[i].Detail += v.whyDead(name, because[cause])
		}
	}
	return ps
}

// dies reports whether it is a problem that nobody can ever call the name.
func (v *Findings) dies(n verify.Name) bool {
	return n.Callable == verify.Impossible && !v.blocked(n) && (len(n.Because) > 0 || !slices.Contains(v.unlisted, n.Tool.Name))
}

// forbids is where the first of the nets was written that list the name and
// forbid it; where none does, the first of those that cause it.
func (v *Findings) forbids(n verify.Name) gate.Position {
	for _, net := range n.Because {
		if v.nets[net.Name].Cause != gate.CauseBlock && slices.Contains(listed(v.nets[net.Name]), written(n.Tool)) {
			return net.Rule
		}
	}
	return first(n.Because)
}

// reasons are the sentences of rules, one a line.
func (v *Findings) reasons(nets []verify.Net) string {
	var b strings.Builder
	for _, n := range nets {
		if info := v.nets[n.Name]; info.Labels != nil {
			fmt.Fprintf(&b, "  %s:%d: %s\n", n.Rule.File, n.Rule.Line, info.Reason)
		}
	}
	return b.String()
}

// blocked reports whether block alone keeps a name from being called.
func (v *Findings) blocked(n verify.Name) bool {
	return len(n.Because) > 0 && !slices.ContainsFunc(n.Because, func(net verify.Net) bool { return v.nets[net.Name].Cause != gate.CauseBlock })
}

func (v *Findings) failing() diag.List {
	var ps diag.List
	for _, n := range v.names {
		if n.Callable != verify.AfterFailure {
			continue
		}
		p := at(diag.Warning, codeFailing, v.speaksOf(n.Tool), fmt.Sprintf("%s can be called only after calls that fail or overlap", text.Escape(written(n.Tool))))
		if len(n.Failing) > 0 {
			p.Detail = "  such as:\n" + steps(n.Failing)
		}
		ps = append(ps, p)
	}
	return ps
}

// speaksOf is where the first net that lists the name was written.
func (v *Findings) speaksOf(tool gate.Tool) gate.Position {
	for _, g := range v.report.Groups {
		for _, n := range g.Nets {
			if slices.Contains(listed(v.nets[n.Name]), written(tool)) {
				return n.Rule
			}
		}
	}
	return gate.Position{}
}

// deadlocks are runs after which a group of nets forbids all that it gates. A
// session limit that is used up, a block and a workflow that has come to its
// end are meant to.
func (v *Findings) deadlocks() diag.List {
	var ps diag.List
	for _, g := range v.report.Groups {
		if g.Deadlock.Result != verify.Refuted || len(g.Deadlock.Trace) == 0 || slices.ContainsFunc(g.Deadlock.Because, v.ends) || v.claimed(g.Deadlock) {
			continue
		}
		p := at(diag.Warning, codeDeadlock, first(g.Deadlock.Because), "the policy can get stuck: "+together(g.Deadlock.Because)+" can forbid all further calls")
		p.Detail = "  after these calls:\n" + steps(g.Deadlock.Trace) + v.stuck(g.Deadlock.Trace, g.Deadlock.Because)
		if slices.ContainsFunc(g.Deadlock.Because, func(n verify.Net) bool { return v.nets[n.Name].Cause == gate.CauseNet }) {
			p.Hint = "where a workflow may end, name the places under terminalPlaces"
		}
		ps = append(ps, p)
	}
	return ps
}

// claimed reports whether a refuted claim shows the same already.
func (v *Findings) claimed(d verify.Deadlock) bool {
	return slices.ContainsFunc(v.proofs, func(p proven) bool {
		return p.Result == verify.Refuted && slices.Equal(p.Because, d.Because) && slices.Equal(p.Counterexample, d.Trace)
	})
}

func (v *Findings) ends(net verify.Net) bool {
	n := v.nets[net.Name]
	refills := slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return t.Observe })
	return n.Cause == gate.CauseLimit && !refills || n.Cause == gate.CauseBlock || len(n.Terminal) > 0
}

// redundant are the nets that change nothing, but for those about tools alone of
// which it is said that they can never be called: that follows from it.
func (v *Findings) redundant() diag.List {
	var ps diag.List
	for _, r := range v.report.Redundant {
		if v.follows(r.Net) {
			continue
		}
		p := at(diag.Warning, codeRedundant, r.Net.Rule, r.Net.Name+" never changes a verdict")
		switch len(r.Because) {
		case 0:
		case 1:
			p.Hint = together(r.Because) + " forbids before it does"
		default:
			p.Hint = together(r.Because) + " forbid before it does"
		}
		ps = append(ps, p)
	}
	return ps
}

// follows reports whether nobody can ever call what the net gates.
func (v *Findings) follows(net verify.Net) bool {
	gated := false
	for _, t := range v.nets[net.Name].Transitions {
		for _, tool := range t.Tools {
			dead := slices.ContainsFunc(v.names, func(n verify.Name) bool { return written(n.Tool) == written(tool) && v.dies(n) })
			if !t.Observe && !dead {
				return false
			}
			gated = gated || !t.Observe
		}
	}
	return gated
}

// notes are what is worth knowing, and no problem.
func (v *Findings) notes() []string {
	var notes []string
	if len(v.idle) > 0 {
		notes = append(notes, "not active, and not looked at: "+strings.Join(v.idle, ", "))
	}
	if v.shadow {
		notes = append(notes, "the policy is in shadow: it refuses nothing, and what is proved holds from the day when it is enforced")
	}
	var shadow, shared, judging []string
	for _, n := range v.policy.Nets() {
		if n.Validate != nil && !n.Shadow {
			judging = append(judging, n.Name)
		}
		if n.Shadow {
			shadow = append(shadow, n.Name)
		}
		if n.Scope != gate.ScopeSession {
			shared = append(shared, n.Name)
		}
	}
	if len(shadow) > 0 {
		notes = append(notes, "in shadow, and so nothing that forbids: "+strings.Join(shadow, ", "))
	}
	if len(judging) > 0 {
		notes = append(notes, "what can be called is looked at as if it were valid for these nets, which judge arguments: "+strings.Join(judging, ", "))
	}
	if len(shared) > 0 {
		notes = append(notes, "claims are about one session, and what others spend or earn in these nets is not looked at: "+strings.Join(shared, ", "))
	}
	unsure := v.unsure()
	if len(unsure) == 0 && len(v.proofs) == 0 {
		unsure = v.gaps()
	}
	return append(notes, unsure...)
}

// gaps says which kinds of calls were not looked at.
func (v *Findings) gaps() []string {
	var lines []string
	for _, gap := range v.report.Gaps {
		lines = append(lines, "not all kinds of calls were looked at: "+gap)
	}
	return lines
}

// unsure are the names of which it is not known whether they can be called, by
// why that is so.
func (v *Findings) unsure() []string {
	var reasons []string
	names := make(map[string][]string)
	for _, n := range v.names {
		if n.Callable == verify.Unsure {
			if names[n.Why] == nil {
				reasons = append(reasons, n.Why)
			}
			names[n.Why] = append(names[n.Why], written(n.Tool))
		}
	}
	var notes []string
	for _, why := range reasons {
		notes = append(notes, fmt.Sprintf("not known whether %s can be called: %s", text.And(text.EscapeAll(names[why])), why))
	}
	return notes
}

func first(nets []verify.Net) gate.Position {
	if len(nets) == 0 {
		return gate.Position{}
	}
	return nets[0].Rule
}

// together names nets with the places where they were written.
func together(nets []verify.Net) string {
	var names []string
	for _, n := range nets {
		names = append(names, cited(n))
	}
	return text.And(names)
}

func cited(n verify.Net) string {
	if n.Rule.Line == 0 {
		return n.Name
	}
	return fmt.Sprintf("%s (%s:%d)", n.Name, n.Rule.File, n.Rule.Line)
}
