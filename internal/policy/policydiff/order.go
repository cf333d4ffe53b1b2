package policydiff

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// Nets only restrict calls, and identical nets are in the same state after the same calls with the
// same outcomes. Suppose that a policy has every net of another policy, or a stricter one in its
// place. It then refuses everything that the other policy refuses. This holds after every sequence
// of calls, even over several sessions.

// excluded reports whether the new policy is proved never to be stricter (index 0) or looser (index
// 1) than the old one. The argument contains the map statements that only one of the policies has.
func (d *Comparison) excluded(alone []gate.Map) (never [2]bool) {
	from, to := d.sides[0], d.sides[1]
	if doubted(from, to, alone) != "" {
		return never
	}
	return [2]bool{to.within(from, alone, d.stop), from.within(to, alone, d.stop)}
}

// within reports whether the other policy is proved to refuse everything that s refuses. It returns
// false if the proof was stopped. It also returns false if s has an advisory net, because such a
// net might block fewer calls in a policy with more nets.
func (s *Side) within(other *Side, alone []gate.Map, stop func() bool) bool {
	if s.yields() {
		return false
	}
	for _, n := range s.nets {
		if stop() || !slices.ContainsFunc(other.nets, func(o gate.NetInfo) bool { return replaces(o, n, alone, !s.deny) }) {
			return false
		}
	}
	if !s.deny {
		return true
	}
	known := func(n gate.NetInfo) bool { // known reports whether a net of s lists all calls that n lists
		return !stop() && slices.ContainsFunc(s.nets, func(o gate.NetInfo) bool { return replaces(n, o, alone, false) })
	}
	return other.deny && !slices.ContainsFunc(other.nets, func(n gate.NetInfo) bool { return !known(n) })
}

// replaces reports whether the first net is proved to refuse everything that the second net
// refuses. The last argument is true if the first net may list more calls than the second.
func replaces(strict, n gate.NetInfo, alone []gate.Map, more bool) bool {
	same := strict.Fingerprint == n.Fingerprint
	if !same {
		with := strict.Net
		if shares(strict, n) {
			with.Scope = n.Scope
		}
		if more {
			with = withList(with, n.Net)
		}
		same = alike(with, n.Net) && fingerprint(withNumbers(with, n.Net)) == n.Fingerprint
	}
	return same && (strict.Labels == nil) == (n.Labels == nil) && sameClass(strict, n) && !reads(n, alone)
}

// withList returns a copy of n that counts only the calls that the second net counts. The copy must
// not be stricter than n. If withList cannot ensure this, it returns n.
func withList(n, other gate.Net) gate.Net {
	lists := func(t gate.Transition) bool { return len(t.Tools) > 0 }
	i := slices.IndexFunc(n.Transitions, lists)
	if n.Cause != gate.CauseLimit || other.Cause != gate.CauseLimit || n.Row || i < 0 || len(n.Transitions) != len(other.Transitions) || slices.ContainsFunc(n.Transitions[i+1:], lists) {
		return n
	}
	t, o := n.Transitions[i], other.Transitions[i]
	if !includes(t.Tools, o.Tools) || !includes(o.Unless, t.Unless) {
		return n
	}
	t.Name, t.Tools, t.Unless = o.Name, o.Tools, o.Unless
	n.Transitions = slices.Clone(n.Transitions)
	n.Transitions[i] = t
	return n
}

func includes(all, some []gate.Tool) bool {
	return !slices.ContainsFunc(some, func(t gate.Tool) bool { return !slices.Contains(all, t) })
}

// alike reports whether a and b have the same places and list the same tools, and whether both or
// neither of them limits a sum.
func alike(a, b gate.Net) bool {
	return (a.Sum == nil) == (b.Sum == nil) && slices.Equal(a.Places, b.Places) &&
		slices.EqualFunc(a.Transitions, b.Transitions, func(t, u gate.Transition) bool { return slices.Equal(t.Tools, u.Tools) })
}

// withNumbers returns a copy of n. Where a number of the second net, such as a limit, is less
// restrictive, the copy has this number. The copy is thus never stricter than n.
func withNumbers(n, other gate.Net) gate.Net {
	n.Initial = maps.Clone(n.Initial)
	for _, p := range budgets(n) {
		n.Initial[p] = max(n.Initial[p], other.Initial[p])
	}
	if n.Sum != nil && slower(*n.Sum, *other.Sum) {
		sum := *n.Sum
		sum.Most, sum.Every = other.Sum.Most, other.Sum.Every
		n.Sum = &sum
	}
	n.Transitions = slices.Clone(n.Transitions)
	for i, o := range other.Transitions {
		t := &n.Transitions[i]
		if t.Approvals > max(o.Approvals, 1) {
			t.Approvals = o.Approvals
		}
		if n.Cause == gate.CauseLimit && o.Every > 0 { // a limit has only one timed transition, which returns tokens one by one
			t.Every = min(t.Every, o.Every)
		}
	}
	return n
}

// slower reports whether the limit of sum a is at most that of sum b, and whether a is refilled at
// most as fast as b. If so, a never has more left than b after the same calls.
func slower(a, b gate.Sum) bool {
	product := func(most int, every time.Duration) *big.Int {
		return new(big.Int).Mul(big.NewInt(int64(most)), big.NewInt(int64(every)))
	}
	return a.Most <= b.Most && (a.Every == 0 || b.Every > 0 && product(a.Most, b.Every).Cmp(product(b.Most, a.Every)) <= 0)
}

// shares reports whether the first net is a limit that is never refilled and has a wider scope than
// the second net. For example, all sessions of a principal may share it. Such a limit is at least
// as strict as the same limit with the narrower scope.
func shares(strict, n gate.NetInfo) bool {
	back := func(t gate.Transition) bool { return t.Observe || t.Every > 0 }
	return strict.Scope > n.Scope && strict.Cause == gate.CauseLimit && !strict.Row &&
		(strict.Sum == nil || strict.Sum.Every == 0) && !slices.ContainsFunc(strict.Transitions, back)
}

// budgets returns the places that lose tokens only to the net's single gating transition.
func budgets(n gate.Net) []string {
	gating := func(t gate.Transition) bool { return !t.Observe && t.Every == 0 && len(t.Tools) > 0 }
	gates, others := list.Filter(n.Transitions, gating), slices.DeleteFunc(slices.Clone(n.Transitions), gating)
	if len(gates) != 1 || len(n.Phases) > 0 || n.Validate != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(gates[0].Inputs), func(p string) bool {
		return slices.ContainsFunc(others, func(t gate.Transition) bool { return slices.Contains(t.Inputs, p) })
	})
}

// fingerprint returns the gate's fingerprint of n, or "" if n is invalid.
func fingerprint(n gate.Net) string {
	p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
	if err != nil {
		return ""
	}
	return p.Nets()[0].Fingerprint
}

// doubted returns the reason why the comparison is incomplete, or "" if it finds no reason. If the
// policies read several fields of a call as scripts, it is uncertain which map statements match.
// Such a call is not compared. The comparison is incomplete if only one policy reads one of these
// fields as a script.
func doubted(from, to *Side, alone []gate.Map) string {
	reads := func(maps []gate.Map, wanted func(gate.Map) bool) bool {
		return slices.ContainsFunc(maps, func(m gate.Map) bool { return m.Reader != nil && m.Field != "" && wanted(m) })
	}
	for _, m := range alone {
		here := func(o gate.Map) bool { return o.Tool == m.Tool && o.Field == m.Field }
		other := func(o gate.Map) bool { return o.Field != m.Field }
		if m.Reader != nil && m.Field != "" && reads(from.maps, here) != reads(to.maps, here) && (reads(from.maps, other) || reads(to.maps, other)) {
			return fmt.Sprintf("only one of the policies reads %s.%s as a script, so the call's other fields are uncertain", m.Tool, m.Field)
		}
	}
	return ""
}
