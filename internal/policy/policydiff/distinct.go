package policydiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// distinct returns one of the calls for each combination of effects on the nets of the two
// policies. If p is not nil, distinct considers only the nets that p explores.
func (d *Comparison) distinct(calls []possibleCall, p *product) []possibleCall {
	met := make(map[string]bool)
	var out []possibleCall
	for _, c := range calls {
		if d.stop() {
			break
		}
		if c.effects[0] == nil {
			for i, s := range d.sides {
				c.effects[i] = s.effects(c.callFor(i), d.vocabulary)
			}
		}
		var b strings.Builder
		for i, s := range d.sides {
			nets := s.nets
			if p != nil {
				nets = p.policies[i].Nets()
			}
			for _, n := range nets {
				fmt.Fprintf(&b, "%q", c.effects[i][n.Name])
			}
			b.WriteString(c.effects[i][""])
		}
		if key := b.String(); !met[key] {
			met[key] = true
			out = append(out, c)
		}
	}
	return out
}

// effects returns the effects of a call on each net. Effects that cannot be attributed to a single
// net are listed under the empty name.
func (s *Side) effects(call gate.Call, all vocabulary) effects {
	out := make(effects)
	nets := s.whole.Nets()
	for _, m := range s.whole.Meaning(call) {
		n := nets[m.Net]
		out[n.Name] = fmt.Sprint(m.Asks)
		if readsData(n) {
			out[n.Name] += string(call.Args)
		}
		if n.Validate != nil || n.OnSuccess != nil {
			out[n.Name] += fmt.Sprint(string(call.Args), s.whole.Names(call))
		}
	}
	phases := func(n gate.NetInfo) bool { return len(n.Phases) > 0 }
	if s.deny || slices.ContainsFunc(nets, phases) {
		out[""] = all.sees(s.whole.Names(call))
	}
	return out
}
