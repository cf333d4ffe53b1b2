package rules

import (
	"fmt"
	"time"
	"unicode"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// The places that nets of rules are made of.
const (
	idle   = "idle"   // before the start
	ready  = "ready"  // the rule is in force
	gated  = "gate"   // the prerequisite has succeeded
	locked = "locked" // never marked
	budget = "budget" // calls that are left
	spent  = "spent"  // calls that can be given back
)

// ruleNet returns a net with the fields that the nets of all rules share.
func ruleNet(name string, r Rule, cause gate.Cause, places []string, ts ...gate.Transition) gate.Net {
	start := gate.Transition{Name: "start", Inputs: []string{idle}, Outputs: []string{ready}}
	return gate.Net{
		Name:        name,
		Places:      append([]string{idle, ready}, places...),
		Initial:     map[string]int{idle: 1},
		Transitions: append([]gate.Transition{start}, ts...),
		Cause:       cause,
		Rule:        r.Pos,
		Shadow:      r.Shadow,
	}
}

// exempt lists the names that r exempts, as the gate reads them.
func (r *Rule) exempt() []gate.Tool {
	var tools []gate.Tool
	for _, n := range r.Unless {
		tools = append(tools, n.Call())
	}
	return tools
}

func requireNet(s *Require) gate.Net {
	before := s.Before.Call()
	if before.Kind == gate.Glob && !s.First.Glob() {
		before.Except = s.First.Text // "require backup before *" must not lock backup
	}
	second, after := do(s.Before), ready
	if s.First.same(s.Before) {
		second += "#2"
	}
	name := fmt.Sprintf("require-%s-before-%s", s.First.inNet(), s.Before.inNet())
	if s.Once {
		name, after = name+"-once", gated
	}
	n := ruleNet(name, s.Rule, gate.CauseSequence, []string{gated},
		gate.Transition{Name: do(s.First), Inputs: []string{ready}, Outputs: []string{gated},
			Tools: []gate.Tool{s.First.Call()}, Deferred: true, Observe: true},
		gate.Transition{Name: second, Inputs: []string{gated}, Outputs: []string{after},
			Tools: []gate.Tool{before}, Unless: s.exempt()},
	)
	n.Reason = fmt.Sprintf("%s requires a successful call to %s first.", s.Before, s.First)
	return n
}

func approveNet(s *Approve) gate.Net {
	n := ruleNet(fmt.Sprintf("approve-before-%s", s.Before.inNet()), s.Rule, gate.CauseApproval, nil,
		gate.Transition{Name: "approve", Inputs: []string{ready}, Outputs: []string{ready},
			Tools: []gate.Tool{s.Before.Call()}, Manual: true, Via: s.Via, Unless: s.exempt()},
	)
	n.Reason = fmt.Sprintf("%s requires human approval.", s.Before)
	return n
}

func blockNet(s *Block) gate.Net {
	n := ruleNet(fmt.Sprintf("block-%s", s.Tool.inNet()), s.Rule, gate.CauseBlock, []string{locked},
		gate.Transition{Name: do(s.Tool), Inputs: []string{locked}, Outputs: []string{locked},
			Tools: []gate.Tool{s.Tool.Call()}, Unless: s.exempt()},
	)
	n.Reason = fmt.Sprintf("%s is blocked and cannot be called.", s.Tool)
	return n
}

func limitNet(s *Limit) gate.Net {
	name, places := fmt.Sprintf("limit-%s-%d", s.Tool.inNet(), s.Count), []string{budget}
	call := gate.Transition{Name: do(s.Tool), Inputs: []string{ready, budget}, Outputs: []string{ready},
		Tools: []gate.Tool{s.Tool.Call()}, Unless: s.exempt()}
	transitions := []gate.Transition{call}
	if s.refills() {
		places = append(places, spent)
		transitions[0].Outputs = []string{ready, spent}
		transitions = append(transitions, s.refill())
	}
	switch {
	case s.Per != nil && s.Successful:
		name += fmt.Sprintf("-per-successful-%s", s.Per.inNet())
	case s.Per != nil:
		name += "-per-" + s.Per.inNet()
	case s.Over != Session:
		name += "-per-" + s.Over.String()
	}
	n := ruleNet(name, s.Rule, gate.CauseLimit, places, transitions...)
	n.Initial[budget] = s.Count
	if s.Per == nil && s.Over == User {
		n.Scope = gate.ScopePrincipal
	}
	n.Reason = fmt.Sprintf("%s has reached its limit of %s per %s.", s.Tool, text.Count(s.Count, "call"), s.scope())
	return n
}

// windows are the lengths of the spans of time.
var windows = [...]time.Duration{Second: time.Second, Minute: time.Minute, Hour: time.Hour, Day: 24 * time.Hour}

// every returns the time after which the clock gives one call back; 0: never. It
// is rounded up: after a burst of the whole budget, no more come back in the next
// span than the limit allows.
func (s *Limit) every() time.Duration {
	if s.Per != nil || s.Over < Second {
		return 0
	}
	n := time.Duration(s.Count)
	return (windows[s.Over] + n - 1) / n
}

// refills reports whether anything gives calls back.
func (s *Limit) refills() bool { return s.Per != nil || s.every() > 0 }

// refill returns the transition that gives one call back.
func (s *Limit) refill() gate.Transition {
	t := gate.Transition{Name: "refill", Inputs: []string{ready, spent}, Outputs: []string{ready, budget}, Every: s.every()}
	if s.Per != nil {
		t.Tools, t.Observe, t.Deferred = []gate.Tool{s.Per.Call()}, true, s.Successful
	}
	return t
}

// do names the transition that the calls of n fire.
func do(n Name) string { return "do-" + n.inNet() }

// inNet returns the name for use in names of nets and transitions: without its
// quotes, if it is valid without them.
func (n Name) inNet() string {
	for _, r := range n.Text {
		if isSeparator(r) || !unicode.IsPrint(r) || r == '"' || r == '#' {
			return n.String()
		}
	}
	return n.Text
}

// Call returns the name as the gate reads it.
func (n Name) Call() gate.Tool {
	t := gate.Tool{Name: n.Text}
	switch {
	case n.Quoted:
		t.Kind = gate.Literal
	case n.Glob():
		t.Kind = gate.Glob
	}
	return t
}
