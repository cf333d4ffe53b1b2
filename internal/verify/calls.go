package verify

import "github.com/petrigate/petrigate/gate"

// A Call stands for all calls that a policy cannot tell from it.
type Call struct {
	Name string // how a person would call it: its label, or the tool
	Tool string
	Also []gate.Name // of Options.Tools
	Args string      // JSON; empty: {}
}

// Calls are calls of every kind that the nets of the policy and the names of
// Options.Prove tell apart. why is empty where none was left out.
func Calls(p *gate.Policy, o Options) (calls []Call, why string) {
	o.Deny = false // what no net knows is a kind of its own
	m := newModel(p, &o)
	why = m.anyGap()
	also := make(map[string][]gate.Name)
	for _, t := range o.Tools {
		also[t.Name] = t.Also
	}
	for _, s := range m.shapes {
		if s.doubtful {
			why = "no arguments are known that match some of the maps together"
			continue
		}
		calls = append(calls, Call{Name: s.name(), Tool: s.tool, Also: also[s.tool], Args: s.args})
	}
	return calls, why
}
