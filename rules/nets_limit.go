package rules

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

func (c *compiler) limitNet(s *Limit) gate.Net {
	other, limited := c.convertKey(s, s.Key)
	call := gate.Transition{Name: transitionName(s.Tools...), Inputs: []string{ready, budget}, Outputs: []string{ready},
		Tools: gateTools(s.Tools), Unless: gateTools(s.Unless), Key: limited}
	places, transitions := []string{budget}, []gate.Transition{call}
	switch {
	case s.Of != nil:
		places, transitions[0].Inputs = nil, []string{ready}
	case s.Over == AtOnce:
		transitions[0].Inputs, transitions[0].Outputs, transitions[0].Deferred = []string{budget}, []string{budget}, true
	case s.canRefill():
		places = append(places, spent)
		transitions[0].Outputs = []string{ready, spent}
		transitions = append(transitions, s.refill(other))
	}
	n := ruleNet(s.netName(), s.Rule, gate.CauseLimit, places, transitions...)
	if s.Of != nil {
		n.Sum = &gate.Sum{Field: c.convertField(s, *s.Of), Most: s.Count, Every: s.window()}
	} else {
		n.Initial[budget] = s.Count
	}
	n.Row = s.Over == InARow
	if s.countsPerPrincipal() {
		n.Scope = gate.ScopePrincipal
	}
	n.Reason = s.reason()
	return n
}

// netName returns the net's name, which describes the limit, such as limit-push-3-at-once.
func (s *Limit) netName() string {
	name := fmt.Sprintf("limit-%s-%d", joinNetForms(s.Tools, "and"), s.Count)
	if s.Of != nil {
		name += "-of-" + s.Of.netForm()
	}
	switch {
	case s.Per != nil && s.Successful:
		name += "-per-successful-" + s.Per.netForm()
	case s.Per != nil:
		name += "-per-" + s.Per.netForm()
	case s.Over == AtOnce:
		name += "-at-once"
	case s.Over == InARow:
		name += "-in-a-row"
	case s.PerUser:
		name += "-per-user-per-" + spans[s.Over].word
	case s.Over != Session:
		name += "-per-" + spans[s.Over].word
	}
	switch {
	case len(s.Key) == 0:
	case hasTwoFields(s.Key):
		name += "-with-same-" + keyNetForm(s.Key, false)
	default:
		name += "-for-each-" + keyNetForm(s.Key, false)
	}
	return name
}

// reason returns the sentence that states the limit in refusals.
func (s *Limit) reason() string {
	tools, has, of := shortList(s.Tools, "and"), "has reached its", ""
	if len(s.Tools) > 1 {
		tools, has = tools+" together", "have reached their"
	}
	if len(s.Key) > 0 {
		of = " for {key}"
	}
	switch {
	case s.Of != nil:
		return fmt.Sprintf("%s would exceed the limit of %d of %s %s%s.", tools, s.Count, s.Of, s.span(), of)
	case s.Over == InARow:
		if of = " of " + s.Tools[0].String(); len(s.Tools) > 1 || s.Tools[0].String() == "*" {
			of = "" // omit the call's name, because the caller knows which call it has made
		}
		return fmt.Sprintf("The same call%s was made %s in a row: repeating it changes nothing.", of, text.Count(s.Count, "time"))
	}
	return fmt.Sprintf("%s %s limit of %s %s%s.", tools, has, text.Count(s.Count, "call"), s.span(), of)
}

// countsPerPrincipal reports whether the limit counts over all sessions of a principal.
func (s *Limit) countsPerPrincipal() bool { return s.Per == nil && (s.Over == User || s.PerUser) }

// window returns the limit's time span, or 0 if the limit has no time span.
func (s *Limit) window() time.Duration {
	if s.Per != nil {
		return 0
	}
	return s.Over.Window()
}

// interval returns the time between two refills of a limit, or 0 for a limit without a time span.
// It rounds up, because with a shorter interval, more calls than the limit allows could be refilled
// within a span.
func (s *Limit) interval() time.Duration {
	n := time.Duration(s.Count)
	return (s.window() + n - 1) / n
}

// canRefill reports whether calls or time refill the budget.
func (s *Limit) canRefill() bool { return s.Per != nil || s.window() > 0 }

// refill returns the transition that adds one call to the budget. The key argument holds the fields
// of the refilling calls.
func (s *Limit) refill(key []gate.Field) gate.Transition {
	t := gate.Transition{Name: "refill", Inputs: []string{ready, spent}, Outputs: []string{ready, budget}, Every: s.interval()}
	if s.Per != nil {
		t.Tools, t.Observe, t.Deferred, t.Key = []gate.Tool{s.Per.Call()}, true, s.Successful, key
	}
	return t
}

// states returns the number of states of the limit's net.
func (s *Limit) states() Verification {
	switch {
	case s.Of != nil || s.Over == AtOnce:
		return Verification{States: 2}
	case s.canRefill():
		return Verification{States: s.Count + 2}
	}
	return Verification{States: s.Count + 2, Deadlocks: 1}
}
