package callclass

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// Many patterns can match one name together in too many ways to make up names
// for all of them. A question is about few of the patterns: names are made up
// for these when it is asked.

// openNames is the calls that only patterns are about, made for each question.
type openNames struct {
	before Enumerator // with the tools and actions that something names
	also   map[string][]gate.Name
	all    []glob
	byNet  [][]int    // patterns that the net has
	single [][]*Class // calls that are made up for the pattern alone
	made   map[string]kinds
}

// openPatterns leaves the names that patterns match for later: all but those
// that are made up for one of them alone.
func (b *Enumerator) openPatterns(before *Enumerator, also map[string][]gate.Name) {
	o := &openNames{before: *before, also: also, made: make(map[string]kinds)}
	for _, g := range b.patterns() {
		if !slices.Contains(o.all, g) {
			o.all = append(o.all, g)
		}
	}
	for _, n := range b.nets {
		var seen []int
		for _, g := range n.patterns() {
			seen = append(seen, slices.Index(o.all, g))
		}
		o.byNet = append(o.byNet, seen)
	}
	for i := range o.all {
		k := o.kinds([]int{i})
		o.single = append(o.single, k.classes)
		b.classes = append(b.classes, k.classes...)
	}
	b.openNames = o
}

// seen are the patterns that nets or the tag can see.
func (o *openNames) seen(nets []int, tag func(*Class) uint8) []int {
	var seen []int
	for _, n := range nets {
		seen = append(seen, o.byNet[n]...)
	}
	if tag != nil {
		for i, classes := range o.single {
			if slices.ContainsFunc(classes, func(s *Class) bool { return tag(s) != tag(o.before.plain(s.Tool)) }) {
				seen = append(seen, i)
			}
		}
	}
	slices.Sort(seen)
	return slices.Compact(seen)
}

// plain is a call of the tool without arguments, as if no patterns matched it.
func (b *Enumerator) plain(tool string) *Class {
	return &Class{Tool: tool, labels: []label{{text: tool, from: fromTool, certain: true}}}
}

// kinds are calls that only these patterns are about.
func (o *openNames) kinds(seen []int) kinds {
	var key []byte
	for _, i := range seen {
		key = binary.AppendUvarint(key, uint64(i))
	}
	if k, ok := o.made[string(key)]; ok {
		return k
	}
	b := o.before.copy()
	b.only = make(map[glob]bool)
	var names []string
	for _, i := range seen {
		b.only[o.all[i]] = true
		names = append(names, o.all[i].pattern)
	}
	var k kinds
	if !b.synthesizeTools(o.also) {
		k.gap = fmt.Sprintf("the patterns %s can match names in more ways than were tried", strings.Join(names, ", "))
	} else {
		for _, t := range b.tools {
			if !o.before.isTool[t] || len(b.action[t]) > len(o.before.action[t]) {
				b.ofTool(t, o.also[t])
			}
		}
		for _, s := range b.classes {
			s.Doubtful = s.Doubtful || b.Deny && len(s.Knowers) == 0 // another name that is like it may be known
		}
		k.classes = b.classes
		if len(b.opened) > len(o.before.opened) {
			last := b.opened[len(b.opened)-1]
			k.gap = last.tooMany(last.atoms())
		} else if len(b.gaps) > len(o.before.gaps) {
			k.gap = b.gaps[len(b.gaps)-1].text
		}
	}
	o.made[string(key)] = k
	return k
}

// copy is a enumerator that goes its own way, with no classes.
func (b *Enumerator) copy() *Enumerator {
	c := *b
	c.tools, c.isTool, c.joint = slices.Clone(b.tools), maps.Clone(b.isTool), maps.Clone(b.joint)
	c.action = make(map[string][]string)
	for tool, actions := range b.action {
		c.action[tool] = slices.Clone(actions)
	}
	c.gaps, c.opened, c.classes = slices.Clone(b.gaps), slices.Clone(b.opened), nil
	c.seen, c.conditions, c.paths = make(map[string]int), make(map[string]*conditions), make(map[string][]string)
	return &c
}
