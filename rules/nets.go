package rules

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
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

// ruleNet is what the nets of all statements share.
func ruleNet(name string, pos gate.Position, cause gate.Cause, places []string, ts ...gate.Transition) gate.Net {
	start := gate.Transition{Name: "start", Inputs: []string{idle}, Outputs: []string{ready}}
	return gate.Net{
		Name:        name,
		Places:      append([]string{idle, ready}, places...),
		Initial:     map[string]int{idle: 1},
		Transitions: append([]gate.Transition{start}, ts...),
		Labels:      true,
		Cause:       cause,
		Rule:        pos,
	}
}

func requireNet(s *Require) gate.Net {
	before := s.Before.Call()
	if before.Kind == gate.Glob && !s.First.Glob() {
		before.Except = s.First.Text // "require backup before *" must not lock backup
	}
	second := do(s.Before)
	if s.First.same(s.Before) {
		second += "#2"
	}
	n := ruleNet(fmt.Sprintf("require-%s-before-%s", s.First, s.Before), s.Pos, gate.CauseSequence, []string{gated},
		gate.Transition{Name: do(s.First), Inputs: []string{ready}, Outputs: []string{gated},
			Tools: []gate.Tool{s.First.Call()}, Deferred: true, Observe: true},
		gate.Transition{Name: second, Inputs: []string{gated}, Outputs: []string{ready},
			Tools: []gate.Tool{before}},
	)
	n.Reason = fmt.Sprintf("%s requires a successful call to %s first.", s.Before, s.First)
	return n
}

func approveNet(s *Approve) gate.Net {
	n := ruleNet(fmt.Sprintf("approve-before-%s", s.Before), s.Pos, gate.CauseApproval, nil,
		gate.Transition{Name: "approve", Inputs: []string{ready}, Outputs: []string{ready},
			Tools: []gate.Tool{s.Before.Call()}, Manual: true},
	)
	n.Reason = fmt.Sprintf("%s requires human approval.", s.Before)
	return n
}

func blockNet(s *Block) gate.Net {
	n := ruleNet(fmt.Sprintf("block-%s", s.Tool), s.Pos, gate.CauseBlock, []string{locked},
		gate.Transition{Name: do(s.Tool), Inputs: []string{locked}, Outputs: []string{locked},
			Tools: []gate.Tool{s.Tool.Call()}},
	)
	n.Reason = fmt.Sprintf("%s is blocked and cannot be called.", s.Tool)
	return n
}

func limitNet(s *Limit) gate.Net {
	name, places := fmt.Sprintf("limit-%s-%d", s.Tool, s.Count), []string{budget}
	call := gate.Transition{Name: do(s.Tool), Inputs: []string{ready, budget}, Outputs: []string{ready},
		Tools: []gate.Tool{s.Tool.Call()}}
	transitions := []gate.Transition{call}
	if s.Per != nil {
		name += fmt.Sprintf("-per-%s", *s.Per)
		places = append(places, spent)
		transitions[0].Outputs = []string{ready, spent}
		transitions = append(transitions, gate.Transition{Name: "refill",
			Inputs: []string{ready, spent}, Outputs: []string{ready, budget},
			Tools: []gate.Tool{s.Per.Call()}, Observe: true})
	}
	n := ruleNet(name, s.Pos, gate.CauseLimit, places, transitions...)
	n.Initial[budget] = s.Count
	n.Reason = fmt.Sprintf("%s has reached its limit of %s per %s.", s.Tool, calls(s.Count), s.scope())
	return n
}

// do names the transition that the calls of n fire.
func do(n Name) string { return "do-" + n.String() }

func calls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

// Call is the name as the gate reads it.
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

func gateMap(m *Map) gate.Map {
	return gate.Map{
		Tool: m.Tool.Text, Field: m.Field, Match: m.Pattern.Match, As: m.As.Text,
		Source: m.Pattern.String(), Rule: m.Pos,
	}
}
