package callclass

import (
	"cmp"
	"maps"
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// A Tool is a tool that can be called, with its further physical names.
type Tool struct {
	Name     string
	Also     []gate.Name
	Supposed bool // nobody knows whether it is there
}

// Options say which calls there are, and what tells them apart beside the nets.
type Options struct {
	Tools     []Tool      // that are known to be there
	Known     bool        // there are no others
	Names     []gate.Tool // names that assertions speak of
	Passes    bool        // what no net knows passes, whatever the default is
	Syntheses int         // how many names are tried of those that patterns match; 0: maxInventions
	Gaps      []string    // why the nets are not all that tells calls apart
}

// Bounds of the classes that are looked at.
const (
	maxClassesOfTool = 2048
	maxClasses       = 8192
	maxMapsOfField   = 8 // of which all sets are tried
	maxListed        = 5 // likewise, in advance
)

// An Enumerator derives the classes of a policy.
type Enumerator struct {
	vocabulary
	classes     []*Class
	seen        map[string]int
	gaps        []gap // what was left out
	opened      []*openTool
	openNames   *openNames // nil: all names that patterns tell apart were made up
	overflows   []string   // gaps of open tools that were met
	Deny        bool
	certainties map[string]certainty   // of labels that readers give
	conditions  map[string]*conditions // by tool
	paths       map[string][]string    // by tool, see [Enumerator.pathsOf]
}

// New enumerates the classes of calls that the nets of the policy tell apart.
func New(p *gate.Policy, nets []*Net, o Options) *Enumerator {
	b := &Enumerator{
		vocabulary: vocabulary{nets: nets, extra: o.Names, complete: o.Known, tries: cmp.Or(o.Syntheses, maxSyntheses)},
		Deny:       p.Options().Deny && !o.Passes,
	}
	for _, text := range o.Gaps {
		b.leaveOut("", "%s", text)
	}
	b.naming = newNaming(p.Maps(), nets, o.Names, o.Tools)
	b.maps = slices.Clone(b.naming.maps)
	for _, n := range nets {
		b.maps = append(b.maps, n.maps...)
	}
	b.derive(o.Tools)
	return b
}

func (b *Enumerator) derive(known []Tool) {
	b.isTool, b.action, b.seen = make(map[string]bool), make(map[string][]string), make(map[string]int)
	b.listed, b.joint, b.supposed = make(map[string]bool), make(map[string]bool), make(map[string]bool)
	b.paths = make(map[string][]string)
	also := make(map[string][]gate.Name)
	for _, t := range known {
		b.tool(t.Name)
		also[t.Name] = t.Also
		b.supposed[t.Name] = t.Supposed
	}
	for _, t := range known {
		for _, a := range t.Also { // which is no further tool
			b.isTool[a.Text] = true
		}
	}
	b.known = maps.Clone(b.isTool)
	b.conditions = make(map[string]*conditions)
	b.mentions()
	b.findCertainties()
	before := b.copy()
	if !b.synthesizeTools(also) {
		b.tools, b.isTool, b.action, b.joint = before.tools, before.isTool, before.action, before.joint
		b.openPatterns(before, also)
	}
	for i := 0; i < len(b.tools); i++ {
		b.ofTool(b.tools[i], also[b.tools[i]])
		if len(b.classes) > maxClasses {
			b.leaveOut("", "the policy has more than %d kinds of calls", maxClasses)
			return
		}
	}
}

// Admitted returns the classes that the default lets pass, in order of preference
// where two mean the same to some nets: known arguments first, then those that no
// net shuts, then those with effects on fewer nets.
func (b *Enumerator) Admitted() []*Class {
	var out []*Class
	for _, s := range b.classes {
		if !b.Deny || len(s.Knowers) > 0 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *Class) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(len(a.Effects), len(b.Effects)))
	})
	return out
}

func (s *Class) rank() int {
	switch {
	case s.Doubtful:
		return 3
	case s.supposed:
		return 2
	case len(s.Shut) > 0:
		return 1
	}
	return 0
}

// Kinds are all calls of open tools, as nets and a tag can tell them apart.
func (b *Enumerator) Kinds(nets []int, tag func(*Class) uint8) (classes []*Class, gap string) {
	if o := b.openNames; o != nil {
		k := o.kinds(o.seen(nets, tag))
		if classes, gap = k.classes, k.gap; gap != "" {
			b.overflows = append(b.overflows, gap)
		}
	}
	for _, o := range b.opened {
		k := b.kindsOfTool(o, o.seen(nets, tag))
		classes = append(classes, k.classes...)
		if gap == "" {
			gap = k.gap
		}
	}
	return classes, gap
}

// Together are sets of nets that one call can concern which is not listed: a call
// of an open tool, or of a name that many patterns match.
func (b *Enumerator) Together() [][]int {
	var sets [][]int
	for _, o := range b.opened {
		var set []int
		for n, atoms := range o.concerns {
			if len(atoms) > 0 || o.plain.MeaningIn(n) >= 0 {
				set = append(set, n)
			}
		}
		sets = append(sets, set)
	}
	if o := b.openNames; o != nil {
		var set []int
		for n, patterns := range o.byNet {
			if len(patterns) > 0 {
				set = append(set, n)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

// Actual returns the class of a call that was made.
func (b *Enumerator) Actual(p *gate.Policy, c gate.Call) *Class {
	s := &Class{Tool: c.Tool, Args: string(c.Args)}
	for _, meaning := range p.Meaning(c) {
		var e Meaning
		for _, a := range meaning.Asks {
			e = append(e, Ask{Lists: a.Transitions, Weak: a.Weak, Free: a.Free})
		}
		s.Effects = append(s.Effects, Effect{meaning.Net, b.nets[meaning.Net].intern(e)})
	}
	return s
}

// Waiting returns the class for time that passes until a transition of the net fires by
// the clock.
func (n *Net) Waiting(transition int) *Class {
	e := n.intern(Meaning{{Lists: []int{transition}}})
	return &Class{Waits: true, Wait: n.Info.Transitions[transition].Every, Effects: []Effect{{n.Index, e}}}
}
