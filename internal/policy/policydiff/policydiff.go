package policydiff

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/toolname"
)

// A Side is one of two policies that are compared.
type Side struct {
	nets   []gate.NetInfo // those that are active and enforced
	labels []*gate.Labels
	maps   []gate.Map // of labels
	deny   bool
	shadow bool // the policy is in shadow: it refuses nothing

	configured bool // owners are the servers of its configuration; otherwise any may be there
	owners     toolname.Owners

	tools []verify.Tool // that are known, besides those that the names tell of
	whole *gate.Policy  // of all nets
}

// NewSide returns the side of a policy.
func NewSide(r *policy.Result, s policy.Source) (*Side, error) {
	o := r.Policy.Options()
	out := &Side{
		labels: o.Labels, maps: r.Policy.Maps(), deny: o.Deny, shadow: s.Mode == "shadow",
		configured: s.Config != nil, owners: check.Owners(s.Config),
	}
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

// emptyIfShadow empties a policy in shadow, which refuses nothing, if the other one is enforced.
func (s *Side) emptyIfShadow(other *Side) error {
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
	return n.Labels != nil && slices.ContainsFunc(maps, func(m gate.Map) bool { return speaksOf(n, m.As) })
}

// speaksOf reports whether calls of that name are another thing to the net.
func speaksOf(n gate.NetInfo, name string) bool {
	is := func(tool gate.Tool) bool {
		return tool.Name == name || tool.Except == name || tool.Kind == gate.Glob && toolnet.MatchGlob(tool.Name, name)
	}
	return slices.Contains(n.Free, name) ||
		slices.ContainsFunc(n.Phases, func(p gate.Phase) bool { return slices.ContainsFunc(p.Tools, is) }) ||
		slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool {
			return slices.ContainsFunc(t.Tools, is) || slices.ContainsFunc(t.Unless, is)
		})
}

// unsharedMaps returns the maps that only one of the sides has.
func unsharedMaps(from, to *Side) []gate.Map {
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
	return a.Tool == b.Tool && a.Glob == b.Glob && a.Field == b.Field && a.As == b.As && a.Source == b.Source && (a.Reader == nil) == (b.Reader == nil)
}

// A representative is a call that stands for all that neither policy tells from it.
type representative struct {
	verify.Call
	named *gate.Call // nil: it has the name of its tool only
}

// otherTool names a tool that no policy mentions.
const otherTool = "some-other-tool"

// representatives returns calls of every kind that one of the policies tells apart; of
// the last of them, nobody knows whether they can be made. why says what was left out.
func (d *Comparison) representatives(single []gate.Map) (calls []representative, why string) {
	o, labels := verify.Options{Doubtful: true, Stop: d.stop}, &gate.Labels{}
	for _, m := range d.sides[0].maps {
		if !hasMap(single, m) {
			labels.Maps = append(labels.Maps, m)
		}
	}
	names := make(map[string]string)
	for i, m := range single { // names of their own tell them from maps of the other side
		mark := markOf(i)
		names[mark], m.As = m.As, mark
		labels.Maps = append(labels.Maps, m)
		o.Prove = append(o.Prove, verify.Reachable{Tool: gate.Tool{Name: mark, Kind: gate.Literal}})
	}
	p, err := gate.NewPolicy(append(d.bothNets(labels), d.certainty(labels)), gate.PolicyOptions{Labels: []*gate.Labels{labels}})
	if err != nil {
		return nil, "the two policies cannot be looked at together"
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
	slices.SortStableFunc(calls, func(a, b representative) int { return len(a.Also) - len(b.Also) }) // the plain ones first
	return calls, why
}

// enumerate returns the calls of a single name, and those of the tools of an alphabet.
func (d *Comparison) enumerate(p *gate.Policy, o verify.Options) (calls []representative, why string) {
	a := d.alphabet()
	d.vocabulary = a.vocabulary
	found, why := verify.Calls(p, o)
	for _, c := range found {
		if c.Tool != otherTool && a.canBeOnlyName(c.Tool) {
			calls = append(calls, representative{Call: c})
		}
	}
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

// certainty is a net that tells whether the names that maps give are certain: for the
// default of one policy, or by what single maps exempt there.
func (d *Comparison) certainty(labels *gate.Labels) gate.Net {
	t := gate.Transition{Name: otherTool, Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: []gate.Tool{{Name: otherTool, Kind: gate.Literal}}}
	for _, m := range labels.Maps {
		if d.sides[0].deny || d.sides[1].deny || strings.HasPrefix(m.As, "\x00") {
			t.Unless = append(t.Unless, gate.Tool{Name: m.As, Kind: gate.Literal})
		}
	}
	return gate.Net{Name: "\x00certainty", Places: []string{"p"}, Initial: map[string]int{"p": 1}, Transitions: []gate.Transition{t}, Labels: labels}
}

// markOf is the name that the single map with the number gives.
func markOf(i int) string { return strings.Repeat("\x00", i+2) }

// bothNets returns the nets of both sides, with these labels.
func (d *Comparison) bothNets(labels *gate.Labels) []gate.Net {
	var nets []gate.Net
	for i, s := range d.sides {
		for _, n := range s.nets {
			one := n.Net
			one.Row = false // what tells calls apart is the same, and its states are not looked at
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
	allowed     permission = 0
	refusedCall permission = math.MaxUint8
)

// asked is the decision that so many persons are asked.
func asked(persons int) permission { return permission(min(persons, math.MaxUint8-1)) }

func (p permission) String() string {
	switch p {
	case allowed:
		return "allow"
	case refusedCall:
		return "refuse"
	case asked(1):
		return "ask"
	}
	return fmt.Sprintf("ask %d persons", p)
}

// A Comparison plays the same calls under two policies.
type Comparison struct {
	sides      [2]*Side // old and new
	calls      []possible
	maybe      []possible        // calls of which nobody knows whether they can be made
	vocabulary vocabulary        // what tells their names apart
	pairs      []sharedNet       // the nets that both have
	shared     []sharedNet       // those that are left out until a run needs them
	kept       []bool            // of shared: these are needed
	sums       [][2]gate.NetInfo // nets that differ in the limit of a sum
	states     int
	stop       func() bool
	none       [2]bool // no difference exists: stricter, looser
	alike      int     // so many calls that only watch are taken to be any number

	Stricter, Looser *Witness
	more             []*Witness // of other rules or tools than these
	Complete         bool
	why              string // it is not complete
}

// A Witness is a run whose last call is decided differently.
type Witness struct {
	trace    verify.Trace
	verdicts [2]permission // by the old and the new policy
	by       []string      // the nets that refuse or ask
}

// Compare compares two policies: it looks at so many states, as long as stop does
// not tell it to end.
func Compare(from, to *Side, states int, stop func() bool) (*Comparison, error) {
	if err := errors.Join(from.emptyIfShadow(to), to.emptyIfShadow(from)); err != nil {
		return nil, err
	}
	over, asked := false, stop
	stop = func() bool { // a yes is never taken back
		over = over || asked()
		return over
	}
	d := newComparison(from, to, stop)
	d.compareRepeated(stop)
	if !d.settled() {
		if err := d.explore(states, stop); err != nil {
			return d, err
		}
	}
	switch why := d.crossSessionNet(); {
	case d.settled():
		d.Complete, d.why = true, ""
	case why != "" && d.Complete:
		d.partly(why)
	}
	if d.Stricter == nil || d.Looser == nil {
		d.conditions()
	}
	return d, nil
}

func newComparison(from, to *Side, stop func() bool) *Comparison {
	single := unsharedMaps(from, to)
	d := &Comparison{sides: [2]*Side{from, to}, stop: stop, Complete: true, alike: manyAlike, shared: sharedNets(from, to, single)}
	d.pairs, d.kept = d.shared, make([]bool, len(d.shared))
	d.sums, d.none = d.sumPairs(single), d.excluded(single)
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
	calls, why := d.representatives(single)
	for _, c := range calls {
		d.calls = append(d.calls, possible{representative: c})
	}
	if d.calls, d.maybe = d.distinct(d.calls, nil), d.distinct(d.maybe, nil); why != "" {
		d.partly(why)
	}
	if stop() {
		d.partly(verify.WhyTime)
		return d
	}
	if why := d.notCompared(); why != "" {
		d.partly(why)
	}
	return d
}

func (d *Comparison) partly(why string) { d.Complete, d.why = false, why }

// explore searches for differences until no more exist, both directions have a witness,
// or the effort is spent.
func (d *Comparison) explore(limit int, stop func() bool) error {
	p, err := d.find(limit, stop, false)
	if err == nil && p.cut && !p.hasData() {
		d.partly(d.cutBy())
	}
	switch {
	case err != nil || !d.Complete || d.settled():
		return err
	case p.unsettled() && !p.cut:
		d.partly("there is a difference where more calls are in flight at once, and none could be shown")
		return nil
	case len(p.waits) == 0 && len(d.maybe) == 0 && !p.hasData() && !p.judges():
		return nil
	}
	if len(d.sums) > 0 && (d.sums[0][0].Sum.Most > d.sums[0][1].Sum.Most && d.Stricter == nil || d.sums[0][0].Sum.Most < d.sums[0][1].Sum.Most && d.Looser == nil) {
		d.partly("no calls are known that spend more than one of the sums")
		return nil
	}
	found := [2]*Witness{d.Stricter, d.Looser}
	p, err = d.find(limit, stop, true)
	switch {
	case err != nil:
	case p.cut:
		d.partly(d.cutBy())
	case p.unsettled():
		d.partly(p.doubt())
	}
	d.Stricter, d.Looser = found[0], found[1]
	return err
}

// cutBy says which bound has ended a search.
func (d *Comparison) cutBy() string {
	if d.stop() {
		return verify.WhyTime
	}
	return verify.WhyStates
}

// maxDataStates bounds a search with nets that count by what arguments hold.
const maxDataStates = 300

// find searches, with what is only possible too if that is wanted, until all shared nets
// that matter are there. It returns the last search.
func (d *Comparison) find(limit int, stop func() bool, loose bool) (*product, error) {
	for {
		p, err := d.product(loose)
		if err != nil {
			return nil, err
		}
		most := limit - d.states
		if p.hasData() {
			most = min(most, maxDataStates) // most of them are alike
		}
		missing := p.search(most, stop)
		d.states += len(p.nodes)
		switch {
		case missing != nil:
		case !loose && d.states < limit && p.unsettled() && d.alike < mostAlike && !stop():
			d.alike *= 2
		default:
			return p, nil
		}
		for _, i := range missing {
			d.kept[i] = true
		}
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
func (d *Comparison) product(loose bool) (*product, error) {
	p := &product{Comparison: d, seen: make(map[string]bool), loose: loose}
	for i, side := range d.sides {
		all := func(n gate.NetInfo) bool { return !loose || side.deny || !readsData(n) }
		wanted := func(n gate.NetInfo) bool {
			at := slices.IndexFunc(d.shared, func(t sharedNet) bool { return t[i] == n.Name })
			return (at < 0 || d.kept[at]) && all(n)
		}
		seen := clockless
		if loose {
			seen = func(n gate.Net) gate.Net { return clockless(lenient(n)) }
		}
		var err, failed error
		p.policies[i], err = side.only(wanted, seen)
		if loose {
			p.whole[i], failed = side.only(all, seen)
		}
		if err := cmp.Or(err, failed); err != nil {
			return nil, err
		}
	}
	p.calls, p.maybe = d.distinct(d.calls, p), d.distinct(d.maybe, p)
	p.waits = waits(p.policies)
	if loose {
		p.ticks = d.ticks(p.policies)
	}
	return p, nil
}
