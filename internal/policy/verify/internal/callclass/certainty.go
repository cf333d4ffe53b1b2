package callclass

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A label that a map gives by reading a text may be certain, and may be
// evidence. Of one text that several such maps match, each may be either, as
// far as one script can be all that together: the kinds of a set.

// maxMatters is how many labels of one text are told apart by what they are worth.
const maxMatters = 6

// certainty is which of the nets' questions the worth of a label decides.
type certainty struct{ evidence, certain bool }

// findCertainties finds the labels whose worth matters: those that observers follow or
// assertions are about, and those that exempt.
func (b *Enumerator) findCertainties() {
	b.certainties = make(map[string]certainty)
	each := func(maps []gate.Map) {
		for i := range maps {
			if maps[i].Reader != nil {
				b.certainties[maps[i].As] = certainty{b.proves(maps[i].As), b.Deny || b.exempts(maps[i].As)}
			}
		}
	}
	each(b.naming.maps)
	for _, n := range b.nets {
		each(n.Info.Maps)
	}
}

// proves reports whether somebody asks for the label as evidence, or waits for it.
func (b *Enumerator) proves(name string) bool {
	l := &label{text: name, from: fromMap}
	for _, n := range b.nets {
		for i, t := range n.Info.Transitions {
			if (t.Observe || n.Adds[i]) && slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return speaksOf(tool, l) }) {
				return true
			}
		}
	}
	return slices.ContainsFunc(b.extra, func(t gate.Tool) bool { return speaksOf(t, l) })
}

// exempts reports whether the label, if it is certain, takes calls out of the
// reach of something.
func (b *Enumerator) exempts(name string) bool {
	return slices.ContainsFunc(b.nets, func(n *Net) bool { return n.exempts(name) })
}

// exempts reports it of the net.
func (n *Net) exempts(name string) bool {
	l := &label{text: name, from: fromMap}
	return slices.ContainsFunc(n.Info.Transitions, func(t gate.Transition) bool {
		return slices.ContainsFunc(t.Unless, func(u gate.Tool) bool { return speaksOf(u, l) }) ||
			slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return tool.Except == name })
	})
}

// kindsOf are values that exactly the patterns of the set match, one for each
// way in which their labels can be worth something. There are none where no
// text is matched so. Those of either may match it too or not, which makes no
// difference. ok is false where there are too many.
func (b *Enumerator) kindsOf(field string, ps []pattern, keys []mapKey, set, either uint64) (values []*value, ok bool) {
	text, known := witness(ps, set)
	if !known && impossible(ps, set, either) {
		return nil, true
	}
	var readers []int
	for i := range ps {
		if set&(1<<i) != 0 && ps[i].read != nil {
			readers = append(readers, i)
		}
	}
	if len(readers) == 0 {
		v := &value{field: field, hits: hitsOf(keys, set)}
		if known {
			v.texts = []string{text}
		}
		return []*value{v}, true
	}
	ways, ok := b.ways(ps, readers)
	if !ok {
		return nil, false
	}
	texts := make(map[string]string)
	if known {
		for _, s := range []string{text, text + "; " + neutral(ps), text + "; " + text} {
			if hits, exact := b.reads(ps, keys, set, s); exact && texts[spell(hits)] == "" {
				texts[spell(hits)] = s
			}
		}
	}
	for _, way := range ways {
		v := &value{field: field, hits: hitsOf(keys, set)}
		for i := range v.hits {
			if h, ok := way[v.hits[i].key]; ok {
				v.hits[i].weak, v.hits[i].certain = h.weak, h.certain
			}
		}
		if s, ok := texts[spell(v.hits)]; ok {
			v.texts = []string{s}
		}
		values = append(values, v)
	}
	return values, true
}

// hitsOf are strong hits of all patterns in the set.
func hitsOf(keys []mapKey, set uint64) []hit {
	var hits []hit
	for i, k := range keys {
		if set&(1<<i) != 0 {
			hits = append(hits, hit{key: k})
		}
	}
	return hits
}

func spell(hits []hit) string { return fmt.Sprint(hits) }

// reads is what the maps make of the text, as far as it matters; exact says
// that those of the set match and no others.
func (b *Enumerator) reads(ps []pattern, keys []mapKey, set uint64, text string) (hits []hit, exact bool) {
	for i := range ps {
		p := &ps[i]
		if p.match(text) != (set&(1<<i) != 0) {
			return nil, false
		}
		if set&(1<<i) == 0 {
			continue
		}
		h := hit{key: keys[i]}
		if p.read != nil {
			r := p.read(text)
			sure := r.Finds(p.number) == gate.Surely
			w := b.certainties[p.label]
			h.weak = !w.evidence || !sure || !r.Evidence(p.number)
			h.certain = w.certain && sure && r.Only(p.same)
		}
		hits = append(hits, h)
	}
	return hits, true
}

// neutral is a command that no pattern looks for.
func neutral(ps []pattern) string {
	for _, s := range []string{"true", "pwd", "date", "id"} {
		if !slices.ContainsFunc(ps, func(p pattern) bool { return p.match(s) }) {
			return s
		}
	}
	return "true"
}

// ways are what the labels of the readers can be worth together. What does not
// matter is weak and uncertain.
func (b *Enumerator) ways(ps []pattern, readers []int) (ways []map[mapKey]hit, ok bool) {
	var matter []int
	for _, i := range readers {
		if w := b.certainties[ps[i].label]; w.evidence || w.certain {
			matter = append(matter, i)
		}
	}
	if len(matter) > maxMatters {
		return nil, false
	}
	seen := make(map[string]bool)
	take := func(strong uint64, evidence bool) {
		way := make(map[mapKey]hit)
		var key strings.Builder
		for _, i := range readers {
			h := hit{key: ps[i].key, weak: true}
			if at := slices.Index(matter, i); at >= 0 && strong&(1<<at) != 0 {
				w := b.certainties[ps[i].label]
				h.weak, h.certain = !(evidence && w.evidence), w.certain && ps[i].script != nil
			}
			way[ps[i].key] = h
			fmt.Fprint(&key, h)
		}
		if !seen[key.String()] {
			seen[key.String()] = true
			ways = append(ways, way)
		}
	}
	for strong := uint64(0); strong < 1<<len(matter); strong++ {
		if oneCommand(ps, readers) {
			take(strong, true)
		}
		if compatible(ps, readers, matter, strong) {
			take(strong, false)
		}
	}
	return ways, true
}

// oneCommand reports whether a single command can be what all the readers find,
// or they read no scripts.
func oneCommand(ps []pattern, readers []int) bool {
	first := &ps[readers[0]]
	return !slices.ContainsFunc(readers, func(i int) bool {
		p := &ps[i]
		return (p.script == nil) != (first.script == nil) || p.script != nil && p.script[0] != first.script[0] && !carries(first, p) && !carries(p, first)
	})
}

// compatible reports whether a script can certainly be what each of the strong
// labels says, and have what the others find.
func compatible(ps []pattern, readers, matter []int, strong uint64) bool {
	for at, i := range matter {
		if strong&(1<<at) == 0 {
			continue
		}
		label := ps[i].label
		for _, j := range readers {
			fits := slices.ContainsFunc(ps, func(p pattern) bool {
				return p.label == label && p.script != nil && ps[j].script != nil && (p.script[0] == ps[j].script[0] || carries(&p, &ps[j]))
			})
			if !fits {
				return false
			}
		}
	}
	return true
}

// carries reports whether a command of one pattern may, with more words, be what
// another looks for: of a program that is not known anything can be.
func carries(p, other *pattern) bool {
	return other.match(strings.Join(p.script, " ") + " " + strings.Join(other.script, " "))
}
