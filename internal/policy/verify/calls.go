package verify

import (
	"cmp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A Call stands for all calls that a policy cannot tell from it.
type Call struct {
	Name string // how a person would call it: its label, or the tool
	Tool string
	Also []gate.Name // of Options.Tools
	Args string      // JSON; empty: {}

	// Doubtful calls perhaps cannot be made: no arguments are known that have these names,
	// by maps. Calls returns them where Options.Doubtful wants them.
	Doubtful bool
	Mapped   []gate.Name
}

// Calls are calls of every kind that the nets of the policy and the names of
// Options.Prove tell apart. why is empty where none was left out.
func Calls(p *gate.Policy, o Options) (calls []Call, why string) {
	o.passes = true // what no net knows is a kind of its own
	m := newProver(p, &o)
	nets := make([]int, len(m.Nets))
	for i := range nets {
		nets[i] = i
	}
	classes, gap := m.ClassesFor(nets, nil)
	why = cmp.Or(m.Calls.AnyGap(), gap)
	for _, a := range o.Prove {
		for _, t := range a.tools() {
			more, gap := m.Calls.Kinds(nets, carrying(t))
			classes, why = append(classes, more...), cmp.Or(why, gap)
		}
	}
	for _, s := range classes {
		if s.Doubtful && o.Doubtful {
			if mapped, ok := s.Mapped(); ok {
				calls = append(calls, Call{Name: s.Name(), Tool: s.Tool, Also: m.also[s.Tool], Doubtful: true, Mapped: mapped})
				continue
			}
		}
		if s.Doubtful {
			why = "no arguments are known that match some of the maps together"
			continue
		}
		calls = append(calls, Call{Name: s.Name(), Tool: s.Tool, Also: m.also[s.Tool], Args: s.Args})
	}
	return calls, why
}

// Synthesize returns, for each set of the patterns that a name can match together behind one of
// the prefixes or another, such a name that is not taken; the first of the prefixes is empty.
// complete is false where they are too many.
func Synthesize(patterns, prefixes []string, taken map[string]bool) (names []string, complete bool) {
	return callclass.Synthesize(patterns, prefixes, taken)
}
