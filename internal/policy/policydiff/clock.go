package policydiff

import (
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// tickOf is the prefix of the names of calls that stand for firings of timed transitions. No tool
// has such a name.
const tickOf = "\x00tick "

// clockless returns a copy of n whose timed transitions are fired by calls. The search can then
// decide when they fire. The calls have no other effect on the copy. If n has a key, its timed
// transitions are unchanged, because they fire for all values of the key at once.
func clockless(n gate.Net) gate.Net {
	none := gate.Tool{Name: tickOf + "*", Kind: gate.Glob}
	keyed := hasKey(n)
	n.Transitions = slices.Clone(n.Transitions)
	for i := range n.Transitions {
		switch t := &n.Transitions[i]; {
		case t.Every > 0 && !keyed:
			t.Tools = []gate.Tool{{Name: tickOf + t.Every.String() + " " + n.Name + " " + t.Name, Kind: gate.Literal}}
			t.Every = 0
		case slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return tool.Kind == gate.Glob }):
			t.Unless = append(slices.Clone(t.Unless), none)
		}
	}
	n.Phases = slices.Clone(n.Phases)
	for i := range n.Phases {
		n.Phases[i].Tools = append(slices.Clone(n.Phases[i].Tools), none)
	}
	return n
}

// A ticking describes a timed transition and the call that fires it; see [clockless].
type ticking struct {
	net    string
	number int // index of the transition in the net
	tool   string
	every  time.Duration
}

func tickings(p *gate.Policy) []ticking {
	var out []ticking
	for _, n := range p.Nets() {
		for i, t := range n.Transitions {
			for _, tool := range t.Tools {
				if rest, ok := strings.CutPrefix(tool.Name, tickOf); ok {
					text, _, _ := strings.Cut(rest, " ")
					every, _ := time.ParseDuration(text) // cannot fail: text was written by Duration.String
					out = append(out, ticking{n.Name, i, tool.Name, every})
				}
			}
		}
	}
	return out
}

// waits returns the durations that the search lets pass: the intervals of all timed transitions and
// the refill intervals of all sums.
func waits(policies [2]*gate.Policy) []time.Duration {
	var out []time.Duration
	for _, p := range policies {
		out = append(out, list.Map(tickings(p), func(t ticking) time.Duration { return t.every })...)
		for _, n := range p.Nets() { // include nets that keep their timed transitions
			if n.Sum != nil && n.Sum.Every > 0 {
				out = append(out, n.Sum.Every)
			}
			timed := list.Filter(n.Transitions, func(t gate.Transition) bool { return t.Every > 0 })
			out = append(out, list.Map(timed, func(t gate.Transition) time.Duration { return t.Every })...)
		}
	}
	return list.Sorted(out)
}

// A tick identifies a timed transition; see [clockless]. For each policy, it contains the name of
// the call that fires the transition, or "" if the policy does not have the transition.
type tick [2]string

// ticks returns the timed transitions of the two policies.
func (d *Comparison) ticks(policies [2]*gate.Policy) []tick {
	var all []tick
	old, changed := tickings(policies[0]), tickings(policies[1])
	for _, t := range old {
		one := tick{t.tool, ""}
		for _, pair := range d.pairs {
			i := slices.IndexFunc(changed, func(u ticking) bool { return pair == sharedNet{t.net, u.net} && u.number == t.number })
			if i >= 0 {
				one[1] = changed[i].tool
				changed = slices.Delete(changed, i, i+1)
			}
		}
		all = append(all, one)
	}
	return append(all, list.Map(changed, func(t ticking) tick { return tick{"", t.tool} })...)
}

// pass fires the transition in each policy that has it, if it is enabled there.
func (t tick) pass(policies [2]*gate.Policy, states [2]*gate.State) {
	for i, policy := range policies {
		if t[i] == "" {
			continue
		}
		fire(policy, states[i], t[i])
	}
}

// fire fires a timed transition that [clockless] has converted, by making the call with the given
// name. It reports whether the transition was enabled.
func fire(p *gate.Policy, s *gate.State, tool string) (enabled bool) {
	verdict, number, _ := decide(p, s, gate.Call{Tool: tool})
	if verdict == refusedCall {
		return false
	}
	s.Apply(p.Settle(s, number, gate.Success))
	return true
}
