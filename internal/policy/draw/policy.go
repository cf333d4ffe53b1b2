package draw

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/netfile"
	"github.com/petrigate/petrigate/internal/text"
)

// OfPolicy builds the policy of a source and returns its nets for drawing.
func OfPolicy(source policy.Source) ([]Net, error) {
	result, err := policy.Build(source)
	if err != nil {
		return nil, err
	}
	var nets []Net
	for _, info := range result.Policy.Nets() {
		n := OfNet(info)
		if e := info.Explore(0); e.Complete {
			for i := range n.Transitions {
				n.Transitions[i].Never = slices.Contains(e.DeadTransitions, n.Transitions[i].Name)
			}
		}
		nets = append(nets, n)
	}
	return nets, nil
}

// OfNet converts a policy's net for drawing.
func OfNet(info gate.NetInfo) Net {
	n := Net{Name: info.Name, From: ruleLine(info.Rule)}
	number := make(map[string]int)
	for i, place := range info.Places {
		number[place] = i
		n.Places = append(n.Places, Place{Name: place, Tokens: info.Initial[place], Terminal: slices.Contains(info.Terminal, place)})
	}
	arcs := func(places []string) []petri.Arc {
		return petri.Arcs(list.Map(places, func(place string) int { return number[place] }))
	}
	for _, t := range info.Transitions {
		n.Transitions = append(n.Transitions, Transition{
			Name: t.Name, Tools: texts(t.Tools), In: arcs(t.Inputs), Out: arcs(t.Outputs),
			Manual: t.Manual, People: t.Approvals, Deferred: t.Deferred, Observe: t.Observe, Every: t.Every, Key: key(info, t), Unless: texts(t.Unless),
			Spoils: t.Spoils, Row: info.Row && len(t.Tools) > 0, Sum: sum(info, t),
		})
	}
	for _, p := range info.Phases {
		n.Transitions = append(n.Transitions, Transition{Name: "allowed in " + p.Place, Tools: texts(p.Tools), Listed: true})
	}
	if len(info.Free) > 0 {
		n.Transitions = append(n.Transitions, Transition{Name: "always", Tools: info.Free, Listed: true})
	}
	return n
}

// key returns the fields that make up the transition's key.
func key(info gate.NetInfo, t gate.Transition) []string {
	fields := t.Key
	if len(fields) == 0 && len(t.Tools) > 0 {
		fields = info.Key
	}
	return list.Map(fields, func(f gate.Field) string { return cmp.Or(f.Source, f.Path) })
}

// sum describes the limit on the sum over the transition's calls, or returns the empty string if
// the sum is not limited.
func sum(info gate.NetInfo, t gate.Transition) string {
	s := info.Sum
	if s == nil || len(t.Tools) == 0 {
		return ""
	}
	limit := fmt.Sprintf("%d of %s", s.Most, cmp.Or(s.Field.Source, s.Field.Path))
	if s.Every > 0 {
		limit += " per " + text.Period(s.Every)
	}
	return limit
}

func texts(tools []gate.Tool) []string {
	return list.Map(tools, func(t gate.Tool) string { return t.Name })
}

// ruleLine returns a position as text: the base name of the file, and the line.
func ruleLine(p gate.Position) string {
	p.File, p.Column = filepath.Base(p.File), 0
	return p.String()
}

// OfFile converts a net for drawing. The net comes from a file that is not part of a policy, so it
// gates nothing.
func OfFile(n *netfile.Net, from string) Net {
	out := Net{Name: n.Name, From: from}
	for i, place := range n.Places {
		out.Places = append(out.Places, Place{Name: place, Tokens: n.Initial[i], Terminal: slices.Contains(n.Terminal, i)})
	}
	for i, t := range n.Petri.Transitions {
		out.Transitions = append(out.Transitions, Transition{Name: n.Transitions[i], Tools: n.Transitions[i : i+1], In: t.In, Out: t.Out})
	}
	return out
}

// Plain converts the nets to [netfile.Net] values, which do not contain the tools that the nets
// gate. It adds each net's position to its name.
func Plain(nets []Net) []*netfile.Net {
	var plain []*netfile.Net
	for _, n := range nets {
		p := &netfile.Net{Name: n.heading(), Petri: petri.Net{Places: len(n.Places)}}
		for _, place := range n.Places {
			p.Places, p.Initial = append(p.Places, place.Name), append(p.Initial, place.Tokens)
		}
		for _, t := range n.Transitions {
			if !t.Listed {
				p.Transitions = append(p.Transitions, t.Name)
				p.Petri.Transitions = append(p.Petri.Transitions, petri.Transition{In: t.In, Out: t.Out})
			}
		}
		plain = append(plain, p)
	}
	return plain
}
