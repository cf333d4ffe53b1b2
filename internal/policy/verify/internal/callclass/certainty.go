package callclass

import (
	"cmp"
	"fmt"
	"iter"
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
	for _, m := range b.maps {
		if m.Reader != nil {
			exempts := b.Deny || slices.ContainsFunc(b.nets, func(n *Net) bool { return n.exempts(m.As) })
			b.certainties[m.As] = certainty{b.isEvidence(m.As), exempts}
		}
	}
}

// isEvidence reports whether somebody asks for the label as evidence, or waits for it.
func (b *Enumerator) isEvidence(name string) bool {
	l := &label{text: name, from: fromMap}
	for _, n := range b.nets {
		for i, t := range n.Info.Transitions {
			if (t.Observe || n.Adds[i]) && slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return matchesName(tool, l) }) {
				return true
			}
		}
	}
	return slices.ContainsFunc(b.extra, func(t gate.Tool) bool { return matchesName(t, l) })
}

// exempts reports whether the label, if it is certain, takes calls out of the
// reach of something in the net.
func (n *Net) exempts(name string) bool {
	l := &label{text: name, from: fromMap}
	return slices.ContainsFunc(n.certain(), func(u gate.Tool) bool { return matchesName(u, l) }) ||
		slices.ContainsFunc(n.Info.Transitions, func(t gate.Transition) bool {
			return slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return tool.Except == name })
		})
}

// kindsOf are values that exactly the patterns of the set match, one for each
// way in which their labels can be worth something. There are none where no
// text is matched so. Those of either may match it too or not, which makes no
// difference. ok is false where there are too many.
func (b *Enumerator) kindsOf(field string, ps []pattern, set, either uint64) (values []*value, ok bool) {
	text, known := witness(ps, set)
	if !known && impossible(ps, set, either) {
		return nil, true
	}
	var readers []int
	for i := range members(set) {
		if ps[i].Reader != nil {
			readers = append(readers, i)
		}
	}
	if len(readers) == 0 {
		v := &value{field: field, hits: hitsOf(ps, set)}
		if known {
			v.texts = []string{text}
		}
		return []*value{v}, true
	}
	ways, ok := b.possibleHits(ps, set, readers)
	if !ok {
		return nil, false
	}
	texts := make(map[string][]string)
	if known {
		tried := append(withOperands(text), text+"; "+noopCommand(ps), text+"; "+text)
		for i := range members(set) { // one command may be what all of them look for
			tried = append(tried, withOperands(strings.Join(ps[i].script, " "))...)
		}
		tried = append(tried, scriptsOf(ps, set, text)...)
		for _, s := range tried {
			if hits, exact := b.reads(ps, set, s); exact && texts[hitsKey(hits)] == nil {
				texts[hitsKey(hits)] = []string{s}
			}
		}
	}
	for _, hits := range ways {
		values = append(values, &value{field: field, hits: hits, texts: texts[hitsKey(hits)]})
	}
	return values, true
}

// scriptsOf are scripts of the commands that the patterns of the set look for, some as evidence
// and some not, and scripts that also run a command which no pattern looks for.
func scriptsOf(ps []pattern, set uint64, text string) (scripts []string) {
	other := unrelatedCommand(ps)
	var commands []string
	for i := range members(set) {
		if ps[i].script == nil {
			return []string{text + "; " + other, other + "; " + text}
		}
		commands = include(commands, cmp.Or(ps[i].evidentCommand(), strings.Join(ps[i].script, " ")))
	}
	scripts = append(scripts, text+"; "+other, other+"; "+text)
	if len(commands) > maxMatters {
		return scripts
	}
	for last := range partsOf(1<<len(commands) - 1) {
		proving, rest := chosen(commands, last), chosen(commands, (1<<len(commands)-1)&^last)
		if len(proving) > 0 {
			script := strings.Join(append(rest, strings.Join(proving, " && ")), "; ")
			scripts = append(scripts, script, other+"; "+script)
		}
	}
	return scripts
}

// withOperands is the command by itself, and with operands that programs may need.
// What stands behind an option may be its value.
func withOperands(command string) []string {
	if last := command[strings.LastIndexByte(command, ' ')+1:]; strings.HasPrefix(last, "-") {
		return []string{command}
	}
	return []string{command, command + " a b", command + " https://example.com"}
}

// evidentCommand is a command that is evidence of the label; empty where none was found,
// or the map reads no scripts.
func (p *pattern) evidentCommand() string {
	if p.script == nil {
		return ""
	}
	for _, s := range withOperands(strings.Join(p.script, " ")) {
		if r := p.read(s); r.Finds(p.Pattern) == gate.Surely && r.Evidence(p.Pattern) {
			return s
		}
	}
	return ""
}

// hitsOf are strong hits of all patterns in the set.
func hitsOf(ps []pattern, set uint64) []hit {
	var hits []hit
	for i := range members(set) {
		hits = append(hits, hit{of: ps[i].mapping})
	}
	return hits
}

func hitsKey(hits []hit) string { return fmt.Sprint(hits) }

// reads is what the maps make of the text, as far as it matters; exact says
// that those of the set match and no others.
func (b *Enumerator) reads(ps []pattern, set uint64, text string) (hits []hit, exact bool) {
	if !exactly(ps, set, text) {
		return nil, false
	}
	v := &value{texts: []string{text}}
	for i := range members(set) {
		h, _ := v.hit(ps[i].mapping)
		if h.of.Reader != nil {
			w := b.certainties[h.of.As]
			h.weak, h.certain = h.weak || !w.evidence, h.certain && w.certain
		}
		hits = append(hits, h)
	}
	return hits, true
}

// noopCommand is a command that no pattern looks for.
func noopCommand(ps []pattern) string {
	for _, s := range []string{"true", "pwd", "date", "id"} {
		if !slices.ContainsFunc(ps, func(p pattern) bool { return p.matches(s) }) {
			return s
		}
	}
	return "true"
}

// unrelatedCommand is a command that no pattern looks for and that does something, as far as
// some reader can tell.
func unrelatedCommand(ps []pattern) string {
	for _, s := range []string{"date", "id", "hostname", "uname"} {
		if !slices.ContainsFunc(ps, func(p pattern) bool { return p.matches(s) }) {
			return s
		}
	}
	return "date"
}

// possibleHits are what the labels of the readers can be worth together. What does not
// matter is weak and uncertain.
func (b *Enumerator) possibleHits(ps []pattern, set uint64, readers []int) (ways [][]hit, ok bool) {
	var matter []int
	var proving, exempting uint64 // of matter
	for _, i := range readers {
		w := b.certainties[ps[i].As]
		if !w.evidence && !w.certain {
			continue
		}
		if w.evidence {
			proving |= 1 << len(matter)
		}
		if w.certain && (ps[i].script != nil || b.certainIfHolds(ps[i].mapping)) {
			exempting |= 1 << len(matter)
		}
		matter = append(matter, i)
	}
	if len(matter) > maxMatters {
		return nil, false
	}
	all := uint64(1)<<len(matter) - 1
	take := func(evidence, certain uint64) {
		hits := hitsOf(ps, set)
		for k := range hits {
			h := &hits[k]
			h.weak = h.of.Reader != nil
			if at := slices.IndexFunc(matter, func(i int) bool { return ps[i].mapping == h.of }); at >= 0 {
				h.weak, h.certain = evidence&(1<<at) == 0, certain&(1<<at) != 0
			}
		}
		ways = append(ways, hits)
	}
	if ps[readers[0]].Field == "" { // conditions: one that holds is all that it can be
		for strong := range partsOf(all) {
			if strong&^(proving|exempting) == 0 {
				take(strong&proving, strong&exempting)
			}
		}
		return ways, true
	}
	one := oneCommand(ps, readers)
	for _, plain := range []bool{true, false} { // first those in which a label is both or neither
		for certain := range partsOf(exempting) {
			if !one && !compatible(ps, readers, matter, certain) {
				continue
			}
			for evidence := range partsOf(proving) { // it takes some commands of a script, whatever the others are
				if plain == (evidence&exempting == certain&proving) {
					take(evidence, certain)
				}
			}
		}
	}
	return ways, true
}

// partsOf yields those of the set, the empty one first.
func partsOf(set uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for sub := uint64(0); yield(sub) && sub != set; {
			sub = (sub - set) & set
		}
	}
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
		label := ps[i].As
		for _, j := range readers {
			fits := slices.ContainsFunc(ps, func(p pattern) bool {
				return p.As == label && p.script != nil && ps[j].script != nil && (p.script[0] == ps[j].script[0] || carries(&p, &ps[j]) || spares(&p, &ps[j]))
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
	return other.matches(strings.Join(p.script, " ") + " " + strings.Join(other.script, " "))
}

// spares reports whether a script of nothing but what the pattern looks for may also run
// what the other one looks for: that does nothing.
func spares(p, other *pattern) bool {
	own, inert := strings.Join(p.script, " "), strings.Join(other.script, " ")
	return slices.ContainsFunc([]string{inert + "; " + own, own + " | " + inert}, func(s string) bool { return p.read(s).Only(p.same) })
}
