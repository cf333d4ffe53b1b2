package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// Names of the places in rule nets.
const (
	idle    = "idle"    // marked until the start transition fires
	ready   = "ready"   // marked once the start transition has fired; a later call may remove the token
	gated   = "gate"    // marked once the required call has succeeded
	locked  = "locked"  // never holds a token
	tainted = "tainted" // marked once the call that activates the rule has been made
	budget  = "budget"  // one token for each remaining call
	spent   = "spent"   // one token for each call made; a refill moves the token to the budget
)

// ruleNet returns a net with the parts common to all rules.
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
		Because:     r.Because,
	}
}

// maxPairs is the maximum number of pairs that the names in a statement's two lists can form. Each
// pair gets its own net.
const maxPairs = 256

// requireNets returns a net for each pair of a required call and a call that must wait for it. If
// one of several required calls is enough, it returns a net for each call that must wait. If
// [Require.pairs] returns more than maxPairs, requireNets returns nil.
func (c *compiler) requireNets(s *Require) (nets []gate.Net) {
	if s.pairs() > maxPairs {
		return nil
	}
	for _, before := range s.Before {
		if s.Or {
			nets = append(nets, c.requireNet(s, s.First, before))
			continue
		}
		for _, first := range s.First {
			nets = append(nets, c.requireNet(s, []Name{first}, before))
		}
	}
	return nets
}

// pairs returns the number of pairs of a required call and a call that must wait. The caller
// compares it with [maxPairs]. If a list has only one name, or if any one of the required calls is
// enough, pairs returns 0. The rule then needs at most one net per name.
func (s *Require) pairs() int {
	if s.Or || len(s.First) < 2 || len(s.Before) < 2 {
		return 0
	}
	return len(s.First) * len(s.Before)
}

// requireNet returns the net for a call that must wait for a successful call to any of the names in
// first.
func (c *compiler) requireNet(s *Require, first []Name, before Name) gate.Net {
	tool, spared := s.waitingCall(before)
	observer, second, after := "do-"+joinNetForms(first, "or"), transitionName(before), ready
	if observer == second {
		second += "#2"
	}
	name := fmt.Sprintf("require-%s-before-%s", joinNetForms(first, "or"), before.netForm())
	if s.Once {
		name, after = name+"-once", gated
	}
	earns, waits := c.convertKey(s, s.Key)
	transitions := []gate.Transition{
		{Name: observer, Inputs: []string{ready}, Outputs: []string{gated}, Tools: gateTools(first), Deferred: true, Observe: true, Evidence: true, Key: earns},
		{Name: second, Inputs: []string{gated}, Outputs: []string{after}, Tools: []gate.Tool{tool}, Unless: spared, Key: waits},
	}
	if len(s.Since) > 0 {
		name += "-since-" + joinNetForms(s.Since, "or")
		transitions = append(transitions, gate.Transition{Name: "spoil", Inputs: []string{gated}, Outputs: []string{ready},
			Tools: gateTools(s.Since), Observe: true, Spoils: true, Key: waits})
	}
	if len(s.Key) > 0 {
		name += "-with-same-" + keyNetForm(s.Key, true)
	}
	n := ruleNet(name, s.Rule, gate.CauseSequence, []string{gated}, transitions...)
	n.Reason = s.reason(first, before)
	return n
}

// waitingCall returns the call that must wait as a [gate.Tool], and the calls that need not wait.
// If the waiting call is a pattern, the required calls need not wait: with "require backup before
// *", backup must not wait for itself.
func (s *Require) waitingCall(before Name) (tool gate.Tool, spared []gate.Tool) {
	tool, spared = before.Call(), gateTools(s.Unless)
	if tool.Kind != gate.Glob {
		return tool, spared
	}
	for _, n := range s.First {
		switch {
		case n.Glob():
		case tool.Except == "":
			tool.Except = n.Text
		default:
			spared = append(spared, exempt([]Name{n})...)
		}
	}
	return tool, spared
}

// reason returns the sentence for refusals; the gate replaces {key} with the key's values. The
// sentence contains the words "a successful call to" because they read well before any name, even
// before a verb or a plural noun.
func (s *Require) reason(first []Name, before Name) string {
	call, one := "a successful call to "+text.Join(nameTexts(first), "or"), len(s.Key) > 0 && !hasTwoFields(s.Key)
	end := " first."
	if len(s.Since) > 0 {
		end = fmt.Sprintf(" since the last call to %s.", shortList(s.Since, "or"))
		if one {
			end = strings.TrimSuffix(end, ".") + " for {key}."
		}
	}
	switch {
	case len(s.Key) == 0:
		return fmt.Sprintf("%s requires %s%s", before, call, end)
	case one:
		return fmt.Sprintf("%s {key} requires %s for {key}%s", before, call, end)
	}
	restricted := text.And(list.Map(s.Key, func(k KeyField) string { return k.Field.String() }))
	if slices.ContainsFunc(s.Key, func(k KeyField) bool { return k.Other.Result }) {
		return fmt.Sprintf("%s with %s {key} requires %s that showed {key}%s", before, restricted, call, end)
	}
	earning := text.And(list.Map(s.Key, func(k KeyField) string { return k.Other.String() }))
	return fmt.Sprintf("%s with %s {key} requires %s with %s {key}%s", before, restricted, call, earning, end)
}

func approveNet(s *Approve, before Name) gate.Net {
	name, where := "approve-before-"+before.netForm(), ready
	approve := gate.Transition{Name: "approve", Tools: []gate.Tool{before.Call()}, Manual: true, Via: s.Via, Unless: gateTools(s.Unless)}
	reason := fmt.Sprintf("%s requires human approval", before)
	if s.Persons > 1 {
		name += fmt.Sprintf("-by-%d", s.Persons)
		approve.Approvals = s.Persons
		reason = fmt.Sprintf("%s requires the approval of %d different people", before, s.Persons)
	}
	var places []string
	var transitions []gate.Transition
	if len(s.After) > 0 {
		name, reason = name+afterNetForm(s.After, s.Until), reason+whileTainted(s.After, s.Until)
		places, transitions, where = []string{tainted}, taintTransitions(s.After, s.Until), tainted
		approve.Unless = append(approve.Unless, exemptUntil(before, s.Until)...)
	}
	approve.Inputs, approve.Outputs = []string{where}, []string{where}
	if where == tainted {
		free := approve
		free.Name, free.Manual, free.Via, free.Approvals = transitionName(before), false, "", 0
		free.Inputs, free.Outputs = []string{ready}, []string{ready}
		transitions = append(transitions, free)
	}
	n := ruleNet(name, s.Rule, gate.CauseApproval, places, append(transitions, approve)...)
	n.Reason = reason + "."
	return n
}

func blockNet(s *Block, tool Name) gate.Net {
	do := gate.Transition{Name: transitionName(tool), Inputs: []string{locked}, Outputs: []string{locked}, Tools: []gate.Tool{tool.Call()}, Unless: gateTools(s.Unless)}
	if len(s.After) == 0 {
		n := ruleNet("block-"+tool.netForm(), s.Rule, gate.CauseBlock, []string{locked}, do)
		n.Reason = fmt.Sprintf("%s is blocked and cannot be called.", tool)
		return n
	}
	do.Inputs, do.Outputs, do.Unless = []string{ready}, []string{ready}, append(do.Unless, exemptUntil(tool, s.Until)...)
	n := ruleNet("block-"+tool.netForm()+afterNetForm(s.After, s.Until), s.Rule, gate.CauseBlock, []string{tainted}, append(taintTransitions(s.After, s.Until), do)...)
	n.Reason = fmt.Sprintf("%s is not allowed%s.", tool, whileTainted(s.After, s.Until))
	return n
}

// taintTransitions returns the transitions that activate and deactivate a rule. A call listed in
// the clause "after" activates the rule when it is made. A call listed in the clause "until"
// deactivates the rule when it succeeds.
func taintTransitions(after, until []Name) []gate.Transition {
	ts := []gate.Transition{{Name: "taint", Inputs: []string{ready}, Outputs: []string{tainted}, Tools: gateTools(after), Observe: true, Spoils: true}}
	if len(until) > 0 {
		ts = append(ts, gate.Transition{Name: "clear", Inputs: []string{tainted}, Outputs: []string{ready}, Tools: gateTools(until), Observe: true, Deferred: true, Evidence: true})
	}
	return ts
}

// exemptUntil exempts the calls that end a rule from the rule itself. The exemptions are necessary
// only if the rule applies to a pattern, such as *; if n is not a pattern, exemptUntil returns nil.
func exemptUntil(n Name, until []Name) []gate.Tool {
	if !n.Glob() {
		return nil
	}
	return exempt(until)
}

// exempt returns exemptions that let calls with the given names pass a rule about a pattern. The
// policy's default still applies to these calls.
func exempt(names []Name) []gate.Tool {
	tools := gateTools(names)
	for i := range tools {
		tools[i].Spared = true
	}
	return tools
}

// afterNetForm returns the part of a net's name that describes the clauses "after" and "until".
func afterNetForm(after, until []Name) string {
	name := "-after-" + joinNetForms(after, "or")
	if len(until) > 0 {
		name += "-until-" + joinNetForms(until, "or")
	}
	return name
}

// whileTainted returns the end of the sentence in a refusal, such as "after fetch_url in this
// session".
func whileTainted(after, until []Name) string {
	end := " after " + shortList(after, "or")
	if len(until) > 0 {
		return fmt.Sprintf("%s, until %s has succeeded", end, text.Join(nameTexts(until), "or"))
	}
	return end + " in this session"
}

func allowNet(s *Allow, tool Name) gate.Net {
	return ruleNet("allow-"+tool.netForm(), Rule{Pos: s.Pos}, gate.CauseAllow, nil,
		gate.Transition{Name: transitionName(tool), Inputs: []string{ready}, Outputs: []string{ready}, Tools: []gate.Tool{tool.Call()}})
}

// transitionName returns the name of the transition that fires for calls with the given names.
func transitionName(names ...Name) string { return "do-" + joinNetForms(names, "and") }
