package callclass

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// A policy's patterns can have too many combinations to enumerate. In this case, names are
// synthesized separately for each question, and only for the patterns that concern the question.

// openNames represents calls to tools and actions that the policy refers to only by patterns.
type openNames struct {
	deferredGroup
	before *Enumerator // an enumerator with only the tools and actions that the policy names
	also   map[string][]gate.Name
	all    []naming.Pattern
}

// openPatterns defers the enumeration of names that several patterns match. It enumerates names for
// each single pattern immediately.
func (b *Enumerator) openPatterns(before *Enumerator, also map[string][]gate.Name) {
	o := &openNames{before: before, also: also, all: list.Add(nil, b.patterns()...)}
	o.made, o.of = make(map[string]kindSet), o.kindsOf
	for i, n := range b.nets {
		seen := list.Map(n.patterns(), func(g naming.Pattern) int { return slices.Index(o.all, g) })
		o.byNet = append(o.byNet, seen)
		if len(seen) > 0 {
			o.nets = append(o.nets, i)
		}
	}
	for i := range o.all {
		if b.clock.expired() {
			break
		}
		var alone []contrast
		k := o.kinds([]int{i})
		if k.gap != "" { // because of this class, questions about the pattern report omitted calls
			name := shortName(o.all[i].Text)
			s := b.class(name, &form{tools: []naming.Label{{Text: name, From: naming.FromTool, Certain: true}}})
			alone = append(alone, contrast{s, before.plainClass(name)})
		}
		for _, s := range k.classes {
			alone = append(alone, contrast{s, before.plainClass(s.Tool)})
			b.classes.List = append(b.classes.List, s)
		}
		o.alone = append(o.alone, alone)
	}
	b.deferred = append(b.deferred, &o.deferredGroup)
}

// shortName returns a short name that the pattern matches.
func shortName(pattern string) string {
	return strings.NewReplacer("*", "", "?", "x").Replace(pattern)
}

// plainClass returns the class of the tool's calls without arguments, as if no pattern matched the
// tool.
func (b *Enumerator) plainClass(tool string) *Class {
	return &Class{Tool: tool, labels: []naming.Label{{Text: tool, From: naming.FromTool, Certain: true}}}
}

// kindsOf returns the classes of calls that only the given patterns match.
func (o *openNames) kindsOf(seen []int) kindSet {
	if o.before.clock.expired() {
		return kindSet{gap: WhyTime}
	}
	b := o.before.copy()
	b.only = make(map[naming.Pattern]bool)
	names := list.Map(seen, func(i int) string { return o.all[i].Text })
	for _, i := range seen {
		b.only[o.all[i]] = true
	}
	var k kindSet
	long := slices.IndexFunc(names, func(p string) bool { return len(p) > longestPattern })
	switch {
	case long >= 0:
		k.gap = fmt.Sprintf("the pattern %s is too long to make up names for: the limit is %d bytes", names[long], longestPattern)
	case !b.synthesizeTools(o.also):
		k.gap = fmt.Sprintf("the patterns %s can match names in more ways than were tried", strings.Join(names, ", "))
		if b.clock.late {
			k.gap = WhyTime
		}
	default:
		for _, t := range b.tools {
			if !o.before.isTool[t] || len(b.action[t]) > len(o.before.action[t]) {
				b.enumerateTool(t, o.also[t])
			}
		}
		for _, s := range b.classes.List {
			s.Doubtful = s.Doubtful || b.Deny && len(s.KnownTo) == 0 // another pattern might match the same name and make it known to a net
		}
		k.classes = b.classes.List
		if len(b.deferred) > 0 {
			k.gap = b.deferred[len(b.deferred)-1].overflow
		} else if len(b.gaps) > len(o.before.gaps) {
			k.gap = b.gaps[len(b.gaps)-1].text
		}
	}
	return k
}

// copy returns an independent copy of b without classes and deferred calls.
func (b *Enumerator) copy() *Enumerator {
	c := *b
	c.tools, c.isTool, c.joint = slices.Clone(b.tools), maps.Clone(b.isTool), maps.Clone(b.joint)
	c.action = make(map[string][]string)
	for tool, actions := range b.action {
		c.action[tool] = slices.Clone(actions)
	}
	c.gaps, c.deferred, c.classes = slices.Clone(b.gaps), nil, Numbers[*Class]{}
	c.conditions, c.paths = make(map[string]*conditionSet), make(map[string][]string)
	return &c
}
