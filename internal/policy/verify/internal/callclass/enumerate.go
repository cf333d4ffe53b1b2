package callclass

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// Limits on the number of enumerated classes.
const (
	maxClassesOfTool = 2048
	maxClasses       = 8192
	maxMapsOfField   = 8 // maximum number of map statements for the field "action", and of actions, to try in combination
	maxListed        = 5 // maximum number of maps per field; if a field has more, the enumeration of the tool's classes is deferred
)

// Options specify which calls exist, and what distinguishes them besides the nets.
type Options struct {
	Tools     []Tool      // tools known to exist
	Known     bool        // whether Tools contains all tools that exist
	Names     []gate.Tool // names that assertions use
	Passes    bool        // whether to admit calls that no net knows, even if the policy denies calls by default
	Syntheses int         // maximum number of candidates per search for names that patterns match; 0 means maxSyntheses
	Compared  [][]Reading // fields that assertions compare with each other
	Gaps      []string    // messages about features of nets that the enumeration does not support

	Stop func() bool // called periodically; the enumeration ends once Stop returns true; all later calls must also return true; may be nil

	// Lacks returns an argument that field f reads and that the tool does not accept. It returns ""
	// if the tool accepts all arguments that f reads. If Lacks is nil, tools accept all arguments.
	Lacks func(tool string, f gate.Field) string
}

// New enumerates the classes of calls that the policy's nets distinguish.
func New(p *gate.Policy, nets []*Net, o Options) *Enumerator {
	b := &Enumerator{
		fieldTable: fieldTable{vocabulary: vocabulary{
			nets: nets, naming: newNaming(p.Maps(), nets, o.Names, o.Tools),
			extra: o.Names, complete: o.Known, tries: cmp.Or(o.Syntheses, maxSyntheses),
			isTool: map[string]bool{}, supposed: map[string]bool{}, listed: map[string]bool{},
			action: map[string][]string{}, joint: map[string]bool{}, clock: &clock{stop: o.Stop},
		}},
		Deny: p.Options().Deny && !o.Passes, conditions: map[string]*conditionSet{}, paths: map[string][]string{}, certainConditions: map[*mapping]bool{}, lacks: o.Lacks,
	}
	for _, text := range o.Gaps {
		b.addGap("", "%s", text)
	}
	b.maps = slices.Concat(b.naming.maps, list.FlatMap(nets, func(n *Net) []*mapping { return n.maps }))
	for _, t := range o.Tools {
		b.tool(t.Name)
		b.supposed[t.Name] = t.Supposed
	}
	for _, t := range o.Tools {
		for _, a := range t.Also { // the aliases of a tool are not separate tools
			b.isTool[a.Text] = true
		}
	}
	b.known = maps.Clone(b.isTool)
	b.findSorts(o.Compared)
	b.collectNames()
	if !o.Known || o.Tools == nil {
		b.addUnnamedTool()
	}
	b.findCertainties()
	before, also := b.copy(), Also(o.Tools)
	if !b.synthesizeTools(also) {
		b.vocabulary = before.vocabulary
		b.openPatterns(before, also)
	}
	for _, tool := range b.tools {
		if b.clock.expired() {
			break
		}
		b.enumerateTool(tool, also[tool])
		if len(b.classes.List) > maxClasses {
			b.addGap("", "the policy has more than %d kinds of calls", maxClasses)
			break
		}
	}
	if b.clock.late {
		b.addGap("", "%s", WhyTime)
	}
	return b
}

// AdmittedClasses returns the classes that the policy does not deny by default. Classes that no net
// always blocks come first, followed by classes that some net always blocks, classes that might be
// impossible, and classes without known arguments. Within each group, classes that affect fewer
// nets come first.
func (b *Enumerator) AdmittedClasses() []*Class {
	out := list.Filter(b.classes.List, func(s *Class) bool { return !b.Deny || len(s.KnownTo) > 0 })
	slices.SortStableFunc(out, func(a, b *Class) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(len(a.Effects), len(b.Effects)))
	})
	return out
}

// ClassOf returns the class of c, a call with actual arguments. It sets only the tool, the
// arguments and the effects of the class.
func (b *Enumerator) ClassOf(p *gate.Policy, c gate.Call) *Class {
	s := &Class{Tool: c.Tool, Args: string(c.Args)}
	for _, meaning := range p.Meaning(c) {
		n := b.nets[meaning.Net]
		s.Effects = append(s.Effects, Effect{meaning.Net, n.intern(list.Map(meaning.Asks, n.separateSpoilers))})
	}
	b.addPhases(s, p.Names(c))
	return s
}

// addPhases adds to s the effects of the nets' phases on calls with the given names. A phase
// refuses all calls that it does not list while its place is marked.
func (b *vocabulary) addPhases(s *Class, names []gate.Name) {
	var ls []naming.Label
	for _, name := range names {
		l := naming.Label{Text: name.Text, From: naming.FromTool | naming.FromMap, Certain: name.Certain, Weak: name.Weak}
		if strings.HasPrefix(name.Text, s.Tool+".") {
			l.From = naming.FromAction
		}
		ls = append(ls, l)
	}
	for _, n := range b.nets {
		barred := n.barringPlaces(ls)
		if len(barred) == 0 || n.Info.Shadow {
			continue
		}
		at := slices.IndexFunc(s.Effects, func(e Effect) bool { return e.Net == n.Index })
		var m Meaning
		if at >= 0 {
			m = slices.Clone(n.Meanings.List[s.Effects[at].Meaning])
		}
		e := Effect{n.Index, n.intern(append(m, Ask{Barred: barred}))}
		if at >= 0 {
			s.Effects[at] = e
		} else {
			s.Effects = append(s.Effects, e)
		}
	}
}

// WaitClass returns the class that represents the passage of time until the given timed transition of
// n fires.
func (n *Net) WaitClass(transition int) *Class {
	e := n.intern(Meaning{{Asked: gate.Asked{Transitions: []int{transition}}}})
	return &Class{Waits: true, Wait: n.Info.Transitions[transition].Every, Effects: []Effect{{n.Index, e}}}
}

// enumerateTool adds the classes of a tool, one for every combination of values of its fields. If
// there are too many combinations, it adds some classes and defers the rest.
func (b *Enumerator) enumerateTool(tool string, also []gate.Name) {
	base := []naming.Label{{Text: tool, From: naming.FromTool, Certain: true}}
	for _, a := range also {
		base = naming.Add(base, naming.Label{Text: a.Text, From: naming.FromTool, Certain: a.Certain, Weak: a.Weak})
	}
	var options [][]*value
	count := 1
	for _, f := range b.fields(base) {
		values, ok := b.values(f, base)
		options = append(options, append([]*value{nil}, values...))
		if count *= 1 + len(values); !ok || count > maxClassesOfTool {
			b.deferTool(tool, base)
			return
		}
	}
	eachForm(base, options, count, func(f *form) { b.add(tool, f) })
}
