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

// A Side is one of the two compared policies.
type Side struct {
	nets   []gate.NetInfo // active and enforced nets
	labels []*gate.Labels
	maps   []gate.Map // of labels
	deny   bool
	shadow bool // the policy is in shadow mode and refuses nothing

	configured bool // owners are the servers of its configuration; otherwise any servers are possible
	owners     toolname.Owners

	tools []verify.Tool // known tools, besides those that the names imply
	whole *gate.Policy  // policy of all nets
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

// emptyIfShadow empties a policy in shadow mode, which refuses nothing, if the other one is
// enforced.
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

// A sharedNet is a net that both policies have, with its name in each. It makes no difference by
// itself, so the search leaves it out until a run needs it.
type sharedNet [2]string

// sharedNets pairs the nets that have the same meaning on both sides.
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

// reads reports whether one of the maps gives a name that the net uses in a list or an exemption.
func reads(n gate.NetInfo, maps []gate.Map) bool {
	return n.Labels != nil && slices.ContainsFunc(maps, func(m gate.Map) bool { return speaksOf(n, m.As) })
}

// speaksOf reports whether the net treats calls with that name specially.
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

// A representative is a call that stands for all calls that neither policy distinguishes from it.
type representative struct {
	verify.Call
	named *gate.Call // nil: the call has only the name of its tool
}

// otherTool is the name of a tool that no policy mentions.
const otherTool = "some-other-tool"

// representatives returns calls of every kind that one of the policies distinguishes. Doubtful
// calls, which might not exist, are recorded in d.maybe. why is the reason if some calls were left
// out.
func (d *Comparison) representatives(single []gate.Map) (calls []representative, why string) {
	o, labels := verify.Options{Doubtful: true, Stop: d.stop}, &gate.Labels{}
	for _, m := range d.sides[0].maps {
		if !hasMap(single, m) {
			labels.Maps = append(labels.Maps, m)
		}
	}
	names := make(map[string]string)
	for i, m := range single { // unique names distinguish their labels from those of the other side's maps
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
	slices.SortStableFunc(calls, func(a, b representative) int { return len(a.Also) - len(b.Also) }) // plain calls first
	return calls, why
}

// enumerate returns the calls with a single name, and those of the tools of an alphabet.
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

// certainty returns a net that makes it matter whether the names given by maps are certain: for the
// default of one policy, and for exemptions by unshared maps.
func (d *Comparison) certainty(labels *gate.Labels) gate.Net {
	t := gate.Transition{Name: otherTool, Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: []gate.Tool{{Name: otherTool, Kind: gate.Literal}}}
	for _, m := range labels.Maps {
		if d.sides[0].deny || d.sides[1].deny || strings.HasPrefix(m.As, "\x00") {
			t.Unless = append(t.Unless, gate.Tool{Name: m.As, Kind: gate.Literal})
		}
	}
	return gate.Net{Name: "\x00certainty", Places: []string{"p"}, Initial: map[string]int{"p": 1}, Transitions: []gate.Transition{t}, Labels: labels}
}

// markOf returns the unique name for the unshared map with the index.
func markOf(i int) string { return strings.Repeat("\x00", i+2) }

// bothNets returns the nets of both sides with the given labels.
func (d *Comparison) bothNets(labels *gate.Labels) []gate.Net {
	var nets []gate.Net
	for i, s := range d.sides {
		for _, n := range s.nets {
			one := n.Net
			one.Row = false // rows do not affect which calls are distinguished
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

// A permission is the decision about a call; the strictest is last.
type permission uint8

const (
	allowed     permission = 0
	refusedCall permission = math.MaxUint8
)

// asked returns the decision that an approval by that many people is required.
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

// A Comparison holds the result of playing the same calls under two policies.
type Comparison struct {
	sides      [2]*Side // old and new
	calls      []possible
	maybe      []possible        // calls that might not exist
	vocabulary vocabulary        // names that the policies mention
	pairs      []sharedNet       // nets that both policies have
	shared     []sharedNet       // nets left out until a run needs them
	kept       []bool            // of shared: needed by a run
	sums       [][2]gate.NetInfo // nets that differ only in the limit of a sum
	states     int
	stop       func() bool
	none       [2]bool // whether no difference exists: stricter, looser
	alike      int     // number of equal watching calls that stands for any number

	Stricter, Looser *Witness
	more             []*Witness // differences by other rules or tools
	Complete         bool
	why              string // reason if not Complete
}

// A Witness is a run whose last call is decided differently.
type Witness struct {
	trace    verify.Trace
	verdicts [2]permission // by the old and the new policy
	by       []string      // nets that refuse or ask
}

// Compare compares two policies. It visits at most the given number of states, and ends when stop
// returns true.
func Compare(from, to *Side, states int, stop func() bool) (*Comparison, error) {
	if err := errors.Join(from.emptyIfShadow(to), to.emptyIfShadow(from)); err != nil {
		return nil, err
	}
	over, asked := false, stop
	stop = func() bool { // a true result is permanent
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
		return d // the nets are the same
	}
	if from.yields() || to.yields() {
		d.partly("advisory nets yield where they would leave no tool, and which tools there are is not looked at")
	}
	if from.deny || to.deny { // under a default of deny, nets make calls known, so none is left out
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

// explore searches for differences until none are left, both directions have a witness, or the
// effort is exhausted.
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

// cutBy returns the bound that ended a search.
func (d *Comparison) cutBy() string {
	if d.stop() {
		return verify.WhyTime
	}
	return verify.WhyStates
}

// maxDataStates bounds a search with nets that count by the content of arguments.
const maxDataStates = 300

// find repeats the search until it includes all shared nets that matter. A loose search includes
// calls and times that might not be possible. It returns the last search.
func (d *Comparison) find(limit int, stop func() bool, loose bool) (*product, error) {
	for {
		p, err := d.product(loose)
		if err != nil {
			return nil, err
		}
		most := limit - d.states
		if p.hasData() {
			most = min(most, maxDataStates) // most of these states are similar
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

// needed returns the omitted shared nets among the nets that decided a call under the whole
// policies.
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
