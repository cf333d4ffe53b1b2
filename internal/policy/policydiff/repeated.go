package policydiff

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// Limits with different numbers are compared by repeating a call that they count. The call is made
// as often as the lower limit permits, and then once more.

// maxRepeated is the maximum number of times that a call is repeated.
const maxRepeated = 10_000

// compareRepeated repeats each call that is counted by a net of only one policy. The first time,
// all calls are in flight together. The second time, each call succeeds before the next one is
// made. When both policies refuse the call, compareRepeated lets time pass once and continues.
func (d *Comparison) compareRepeated() {
	apart := d.unsharedNets()
	most, wait := 0, time.Duration(0)
	for _, n := range apart {
		tokens := 0
		for _, k := range n.Initial {
			tokens += k
		}
		most = max(most, tokens)
		for _, t := range n.Transitions {
			wait = max(wait, t.Every)
		}
		if n.Sum != nil {
			most, wait = max(most, 1), max(wait, n.Sum.Every)
		}
	}
	concerned := func(c possibleCall) bool {
		return slices.ContainsFunc(apart, func(n gate.NetInfo) bool {
			return c.effects[0][n.Name]+c.effects[1][n.Name] != ""
		})
	}
	var found []*Witness
	for _, c := range d.calls {
		for _, together := range []bool{true, false} {
			times := 1 // one call is enough if no net of only one policy counts it, because only the default decisions can then differ
			if concerned(c) {
				times += min(most, maxRepeated)
			}
			if d.stop() {
				break
			}
			if w := d.repeat(c, times, wait, together); w != nil {
				found = append(found, w)
				break
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *Witness) int { return len(a.trace) - len(b.trace) })
	for _, w := range found {
		d.witnessed(w)
	}
}

// repeat makes a call up to the given number of times. If the policies decide differently, it stops
// and returns a witness. It also stops when both refuse the call even after a wait. If together is
// true, no call ends before the last one is made.
func (d *Comparison) repeat(c possibleCall, times int, wait time.Duration, together bool) *Witness {
	policies := [2]*gate.Policy{d.sides[0].whole, d.sides[1].whole}
	states := [2]*gate.State{policies[0].NewState(nil), policies[1].NewState(nil)}
	step := verify.Step{Tool: c.Tool, Names: c.named, Args: c.Args, Name: c.Name}
	var trace verify.Trace
	now, waited := time.Unix(0, 0), false
	for number := 1; number <= times; number++ {
		verdicts, numbers, by := c.decide(policies, states, now)
		step.Call = number
		switch {
		case verdicts[0] != verdicts[1]:
			return &Witness{trace: append(trace, step), verdicts: verdicts, by: differing(by)}
		case verdicts[0] == refusedCall && (waited || wait == 0):
			return nil
		case verdicts[0] == refusedCall:
			waited, now = true, now.Add(wait)
			times++
			trace = append(trace, verify.Step{Call: number, Wait: wait})
			continue
		case together:
			trace = append(trace, step)
			continue
		}
		settle(policies, states, numbers, gate.Success, now)
		trace = append(trace, step, verify.Step{Call: number, Ends: true, Outcome: gate.Success})
	}
	return nil
}

// differing returns the nets that refuse the call or require approval for it in only one policy. If
// there are no such nets, it returns all nets that refuse the call or require approval.
func differing(by [2][]string) []string {
	all := slices.Concat(by[0], by[1])
	once := slices.DeleteFunc(slices.Clone(all), func(net string) bool {
		return slices.Contains(by[0], net) && slices.Contains(by[1], net)
	})
	if len(once) == 0 {
		return all
	}
	return once
}

// witnessed records a witness, a sequence of calls that shows a difference. The first witness of
// each kind of difference is stored in d.Stricter or d.Looser. Later ones are added to d.more if
// they involve other nets or tools.
func (d *Comparison) witnessed(w *Witness) {
	found := d.direction(w.verdicts)
	if *found == nil {
		*found = w
		return
	}
	last := w.trace[len(w.trace)-1]
	tool, unseen := last.Names == nil, slices.Clone(w.by)
	for _, o := range append(d.more, *found) {
		if d.direction(o.verdicts) == found {
			tool = tool && o.trace[len(o.trace)-1].Name != last.Name
			unseen = slices.DeleteFunc(unseen, func(net string) bool { return slices.Contains(o.by, net) })
		}
	}
	if tool || len(unseen) > 0 {
		d.more = append(d.more, w)
	}
}
