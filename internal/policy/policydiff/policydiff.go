package policydiff

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A Side is one of two policies that are compared.
type Side struct {
	nets   []gate.NetInfo // those that are active and enforced
	labels []*gate.Labels
	maps   []gate.Map // of labels
	deny   bool
	shadow bool // the policy is in shadow: it refuses nothing
	tools  []verify.Tool
	whole  *gate.Policy // of all nets
}

// NewSide returns the side of a policy under the tools that are known.
func NewSide(r *policy.Result, s policy.Source, tools []verify.Tool) (*Side, error) {
	o := r.Policy.Options()
	out := &Side{labels: o.Labels, maps: r.Policy.Maps(), deny: o.Deny, shadow: s.Mode == "shadow", tools: tools}
	for _, n := range r.Policy.Nets() {
		if !n.Shadow && (r.Active == nil || slices.Contains(r.Active, n.Name)) {
			out.nets = append(out.nets, n)
		}
	}
	return out, out.compile()
}

func (s *Side) compile() (err error) {
	s.whole, err = s.only(func(gate.NetInfo) bool { return true }, func(n gate.Net) gate.Net { return n })
	return err
}

// lift empties a policy in shadow, which refuses nothing, if the other one is enforced.
func (s *Side) lift(other *Side) error {
	if !s.shadow || other.shadow {
		return nil
	}
	s.nets, s.deny = nil, false
	return s.compile()
}

// only builds the policy of the wanted nets, each as seen returns it.
func (s *Side) only(wanted func(gate.NetInfo) bool, seen func(gate.Net) gate.Net) (*gate.Policy, error) {
	var nets []gate.Net
	for _, n := range s.nets {
		if wanted(n) {
			nets = append(nets, seen(n.Net))
		}
	}
	return gate.NewPolicy(nets, gate.PolicyOptions{Labels: s.labels, Deny: s.deny})
}

// A sharedNet is a net that both policies have, by its names in them. It makes no
// difference, so it is left out until a run needs it.
type sharedNet [2]string

// sharedNets pairs the nets that mean the same on both sides.
func sharedNets(from, to *Side, alone []gate.Map) []sharedNet {
	taken := make(map[string]bool)
	var pairs []sharedNet
	for _, a := range from.nets {
		for _, b := range to.nets {
			if a.Fingerprint == b.Fingerprint && (a.Labels == nil) == (b.Labels == nil) && a.Scope == b.Scope && a.Shadow == b.Shadow && sameClass(a, b) && !taken[b.Name] && !reads(a, alone) {
				taken[b.Name] = true
				pairs = append(pairs, sharedNet{a.Name, b.Name})
				break
			}
		}
	}
	return pairs
}

// sameClass reports whether two nets yield alike, and to the same nets.
func sameClass(a, b gate.NetInfo) bool {
	return a.Advisory == b.Advisory && a.Priority == b.Priority && maps.Equal(a.Recovery, b.Recovery)
}

// yields reports whether a net of the side can yield.
func (s *Side) yields() bool {
	return slices.ContainsFunc(s.nets, func(n gate.NetInfo) bool { return n.Advisory })
}

// reads reports whether one of the maps gives a name that the net reads, or by
// which it exempts.
func reads(n gate.NetInfo, maps []gate.Map) bool {
	return n.Labels != nil && slices.ContainsFunc(maps, func(m gate.Map) bool {
		return slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool {
			return slices.ContainsFunc(slices.Concat(t.Tools, t.Unless), func(tool gate.Tool) bool {
				return tool.Name == m.As || tool.Except == m.As || tool.Kind == gate.Glob && gate.MatchGlob(tool.Name, m.As)
			})
		})
	})
}

// alone returns the maps that only one of the sides has.
func alone(from, to *Side) []gate.Map {
	var out []gate.Map
	for _, pair := range [][2]*Side{{from, to}, {to, from}} {
		for _, m := range pair[0].maps {
			if !hasMap(pair[1].maps, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

func hasMap(maps []gate.Map, a gate.Map) bool {
	return slices.ContainsFunc(maps, func(b gate.Map) bool { return sameMap(a, b) })
}

func sameMap(a, b gate.Map) bool {
	return a.Tool == b.Tool && a.Field == b.Field && a.As == b.As && a.Source == b.Source && (a.Reader == nil) == (b.Reader == nil)
}

// A representative is a call that stands for all that neither policy tells from it.
type representative = verify.Call

// callOf returns the call of a representative.
func callOf(c representative) gate.Call {
	call := gate.Call{Tool: c.Tool, Also: c.Also}
	if c.Args != "" {
		call.Args = []byte(c.Args)
	}
	return call
}

// aCall names a tool that no policy mentions.
const aCall = "some-other-tool"

// representatives returns calls of every kind that one of the policies tells apart. why
// says what was left out.
func (d *Comparison) representatives(single []gate.Map) (calls []representative, why string) {
	o, labels := verify.Options{Tools: d.tools().Tools}, &gate.Labels{}
	for _, m := range d.sides[0].maps {
		if !hasMap(single, m) {
			labels.Maps = append(labels.Maps, m)
		}
	}
	names := make(map[string]string)
	for i, m := range single { // names of their own tell them from maps of the other side
		mark := strings.Repeat("\x00", i+2)
		names[mark], m.As = m.As, mark
		labels.Maps = append(labels.Maps, m)
		o.Prove = append(o.Prove, verify.Reachable{Tool: gate.Tool{Name: mark, Kind: gate.Literal}})
	}
	p, err := gate.NewPolicy(d.bothNets(labels), gate.PolicyOptions{Labels: []*gate.Labels{labels}})
	if err != nil {
		return nil, "the two policies cannot be looked at together"
	}
	calls, why = verify.Calls(p, o)
	for i := range calls {
		if name, ok := names[calls[i].Name]; ok {
			calls[i].Name = name
		}
	}
	return append(calls, representative{Name: aCall, Tool: aCall}), why
}

// bothNets returns the nets of both sides, with these labels.
func (d *Comparison) bothNets(labels *gate.Labels) []gate.Net {
	var nets []gate.Net
	for i, s := range d.sides {
		for _, n := range s.nets {
			one := n.Net
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

// A permission is the decision about a call, the strictest last.
type permission uint8

const (
	allowed permission = iota
	asked
	refusedCall
)

func (p permission) String() string { return [...]string{"allow", "ask", "refuse"}[p] }

// A Comparison plays the same calls under two policies.
type Comparison struct {
	sides  [2]*Side // old and new
	calls  []representative
	pairs  []sharedNet // the nets that both have
	shared []sharedNet // those that are left out until a run needs them
	kept   []bool      // of shared: these are needed
	states int
	alike  int // so many calls that only watch are taken to be any number

	Stricter, Looser *Witness
	Complete         bool
	why              string // it is not complete
}

// A Witness is a run whose last call is decided differently.
type Witness struct {
	trace    verify.Trace
	verdicts [2]permission // by the old and the new policy
}

// Compare compares two policies: it looks at so many states, as long as stop does
// not tell it to end.
func Compare(from, to *Side, states int, stop func() bool) (*Comparison, error) {
	if err := errors.Join(from.lift(to), to.lift(from)); err != nil {
		return nil, err
	}
	d := newComparison(from, to)
	return d, d.explore(states, stop)
}

func newComparison(from, to *Side) *Comparison {
	single := alone(from, to)
	d := &Comparison{sides: [2]*Side{from, to}, Complete: true, alike: manyAlike, shared: sharedNets(from, to, single)}
	d.pairs, d.kept = d.shared, make([]bool, len(d.shared))
	if why := doubted(from, to, single); why != "" {
		d.partly(why)
	}
	if len(d.shared) == len(from.nets) && len(d.shared) == len(to.nets) && from.deny == to.deny {
		return d // the same nets
	}
	if from.yields() || to.yields() {
		d.partly("advisory nets yield where they would leave no tool, and which tools there are is not looked at")
	}
	if from.deny || to.deny { // what a net names is known by it: none is left out
		d.shared = nil
	}
	var why string
	if d.calls, why = d.representatives(single); why != "" {
		d.partly(why)
	}
	if why := d.beyond(); why != "" {
		d.partly(why)
	}
	return d
}

// tools returns the tools that the names of one of the sides mean.
func (d *Comparison) tools() check.ToolSet {
	all := slices.Clone(d.sides[0].tools)
	for _, t := range d.sides[1].tools {
		if !slices.ContainsFunc(all, func(u verify.Tool) bool { return u.Name == t.Name }) {
			all = append(all, t)
		}
	}
	return check.ToolSet{Tools: all}
}

func (d *Comparison) partly(why string) { d.Complete, d.why = false, why }

// explore searches for differences until no more exist, both directions have a witness,
// or the effort is spent.
func (d *Comparison) explore(limit int, stop func() bool) error {
	for {
		p, err := d.product()
		if err != nil {
			return err
		}
		missing := p.search(limit-d.states, stop)
		d.states += len(p.nodes)
		switch {
		case missing != nil:
		case d.states < limit && p.unsettled() && d.alike < mostAlike && !stop():
			d.alike *= 2
		default:
			d.conclude(p)
			return nil
		}
		for _, i := range missing {
			d.kept[i] = true
		}
	}
}

// conclude notes what the last search has left open.
func (d *Comparison) conclude(p *product) {
	switch {
	case !d.Complete:
	case p.unsettled():
		d.partly("there is a difference where more calls are in flight at once, and none could be shown")
	case len(p.waits) > 0 && d.result() != "both":
		d.partly("calls are compared at some times, and there are others")
	}
}

// needed returns the shared nets that are left out and took part in a decision of the
// whole policies, whose nets are given.
func (d *Comparison) needed(by [2][]string) []int {
	var out []int
	for i, t := range d.shared {
		if !d.kept[i] && (slices.Contains(by[0], t[0]) || slices.Contains(by[1], t[1])) {
			out = append(out, i)
		}
	}
	return out
}

// product builds the policies without the shared nets that no run has needed so far.
func (d *Comparison) product() (*product, error) {
	p := &product{Comparison: d, seen: make(map[string]bool)}
	for i, side := range d.sides {
		wanted := func(n gate.NetInfo) bool {
			at := slices.IndexFunc(d.shared, func(t sharedNet) bool { return t[i] == n.Name })
			return at < 0 || d.kept[at]
		}
		var err error
		if p.policies[i], err = side.only(wanted, clockless); err != nil {
			return nil, err
		}
	}
	p.waits = waits(p.policies)
	return p, nil
}
