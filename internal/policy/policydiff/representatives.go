package policydiff

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// representatives returns the calls to compare: one of each kind that the policies distinguish.
// Calls that might be impossible are stored in d.maybe instead. If some kinds are missing,
// representatives returns the reason.
func (d *Comparison) representatives(single []gate.Map) (calls []representative, why string) {
	o, labels := verify.Options{Doubtful: true, Stop: d.stop}, &gate.Labels{}
	for _, m := range d.sides[0].maps {
		if !hasMap(single, m) {
			labels.Maps = append(labels.Maps, m)
		}
	}
	names := make(map[string]string)
	for i, m := range single { // use a unique name for each of these map statements, because the other policy may assign the same name to other calls
		mark := markOf(i)
		names[mark], m.As = m.As, mark
		labels.Maps = append(labels.Maps, m)
		o.Prove = append(o.Prove, verify.Reachable{Tool: gate.Tool{Name: mark, Kind: gate.Literal}})
	}
	p, err := gate.NewPolicy(append(d.bothNets(labels), d.certainty(labels)), gate.PolicyOptions{Labels: []*gate.Labels{labels}})
	if err != nil {
		return nil, "the two policies cannot be compared in one model"
	}
	found, why := d.enumerate(p, o)
	for _, c := range found {
		if c.Doubtful {
			d.doubt(c, single)
			continue
		}
		c.Name = cmp.Or(names[c.Name], c.Name)
		calls = append(calls, c)
	}
	calls = append(d.withAmounts(calls), representative{Call: verify.Call{Name: otherTool, Tool: otherTool}})
	slices.SortStableFunc(calls, func(a, b representative) int { return len(a.Also) - len(b.Also) }) // list plain calls first
	return calls, why
}

// enumerate returns the calls that have only one name, and the calls to the tools of the alphabet.
func (d *Comparison) enumerate(p *gate.Policy, o verify.Options) (calls []representative, why string) {
	a := d.alphabet()
	d.vocabulary = a.vocabulary
	found, why := verify.Calls(p, o)
	plain := list.Filter(found, func(c verify.Call) bool { return c.Tool != otherTool && a.canBeOnlyName(c.Tool) })
	calls = list.Map(plain, func(c verify.Call) representative { return representative{Call: c} })
	if len(a.tools) == 0 {
		return calls, cmp.Or(why, a.why)
	}
	o.Tools, o.Known = a.standIns(), true
	found, more := verify.Calls(p, o)
	for _, c := range found {
		if call, ok := a.real(c); ok {
			calls = append(calls, call)
		}
	}
	return calls, cmp.Or(why, a.why, more)
}

// alphabet returns the tools of servers and agents whose calls have names that the policies
// mention.
func (d *Comparison) alphabet() *alphabet {
	a := &alphabet{vocabulary: vocabularyOf(d.sides), shown: make(map[visibility]bool), stop: d.stop}
	a.served(d.sides)
	a.hooked()
	for _, s := range d.sides {
		for _, t := range s.tools {
			a.add(namedTool{name: t.Name, also: t.Also})
		}
	}
	return a
}

// certainty returns a net for use in the enumeration. It makes the enumeration distinguish a call
// that certainly has a name from a call that only might have it. The net lists only names that map
// statements assign.
func (d *Comparison) certainty(labels *gate.Labels) gate.Net {
	t := gate.Transition{Name: otherTool, Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: []gate.Tool{{Name: otherTool, Kind: gate.Literal}}}
	for _, m := range labels.Maps {
		if d.sides[0].deny || d.sides[1].deny || strings.HasPrefix(m.As, "\x00") {
			t.Unless = append(t.Unless, gate.Tool{Name: m.As, Kind: gate.Literal})
		}
	}
	return gate.Net{Name: "\x00certainty", Places: []string{"p"}, Initial: map[string]int{"p": 1}, Transitions: []gate.Transition{t}, Labels: labels}
}

// markOf returns a unique name for a map statement that only one policy has. i is the statement's
// index in the list of such statements.
func markOf(i int) string { return strings.Repeat("\x00", i+2) }

// bothNets returns the nets of both policies, with the given map statements in place of each
// policy's own.
func (d *Comparison) bothNets(labels *gate.Labels) []gate.Net {
	var nets []gate.Net
	for i, s := range d.sides {
		for _, n := range s.nets {
			one := n.Net
			one.Row = false // a limit on consecutive calls does not affect which calls are distinguished
			switch {
			case one.Labels != nil:
				one.Labels = labels
			case i == 1:
				one.Name += " (new)"
			}
			nets = append(nets, one)
		}
	}
	return nets
}

// doubt records a call that might be impossible. If the call might match a map statement that only
// one policy has, doubt also records a variant that is certain to match. If a policy might give the
// call further names, doubt marks the comparison as incomplete instead.
func (d *Comparison) doubt(c representative, single []gate.Map) {
	for _, certain := range []bool{false, true} {
		p := possibleCall{representative: c}
		p.Args = "\x00" + strconv.Itoa(len(d.maybe)) // a placeholder that cannot occur in a real call
		marked := false
		for _, name := range c.Mapped {
			if !strings.HasPrefix(name.Text, "\x00") {
				p.names[0], p.names[1] = append(p.names[0], name), append(p.names[1], name)
				continue
			}
			marked = true
			m := single[len(name.Text)-2] // the map statement that this unique name stands for; see markOf
			side := 0
			if !hasMap(d.sides[0].maps, m) {
				side = 1
			}
			p.names[side] = append(p.names[side], gate.Name{Text: m.As, Certain: name.Certain || certain, Weak: name.Weak})
		}
		switch {
		case certain && !marked:
			return
		case !d.sides[0].sees(p.callFor(0), p.names[0]), !d.sides[1].sees(p.callFor(1), p.names[1]):
			d.partly(someTogether)
			return
		}
		d.maybe = append(d.maybe, p)
	}
}

// sees reports whether the policy certainly gives the call the given names from map statements, in
// addition to the call's own names, and no others. In case of doubt, for example because a net
// computes names with a Go function, sees returns false.
func (s *Side) sees(call gate.Call, mapped []gate.Name) bool {
	known := func(text string) bool {
		is := func(n gate.Name) bool { return n.Text == text }
		return text == call.Tool || strings.ContainsAny(text, "*?") || slices.ContainsFunc(call.Also, is)
	}
	if slices.ContainsFunc(s.whole.Names(call), func(n gate.Name) bool { return !known(n.Text) }) {
		return false
	}
	for _, n := range s.nets {
		maps := n.Maps
		if n.Labels != nil {
			maps = s.maps
		}
		gives := func(name gate.Name) bool {
			return slices.ContainsFunc(maps, func(m gate.Map) bool { return m.As == name.Text })
		}
		strange := func(name gate.Name) bool { return speaksOf(n, name.Text) && !gives(name) }
		if n.Mapper != nil || n.MatchFirst || slices.ContainsFunc(mapped, strange) {
			return false
		}
	}
	return true
}
