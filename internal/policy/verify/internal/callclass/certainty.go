package callclass

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// When a map assigns a label after reading a text, the label has two properties: it can be certain,
// and it can be evidence. If several such maps match the same text, only some combinations of these
// properties can be produced by a single script. The values for a set of maps cover exactly these
// combinations.

// maxMatters is the maximum number of labels per text whose certainty and evidence are
// distinguished.
const maxMatters = 6

// findCertainties finds two kinds of labels: those that observers or assertions use as evidence,
// and those that exempt calls if the label is certain. Only for these labels do the properties
// matter.
func (b *Enumerator) findCertainties() {
	b.certainties = make(map[string]certainty)
	for _, m := range b.maps {
		if m.Reader != nil {
			exempts := b.Deny || slices.ContainsFunc(b.nets, func(n *Net) bool { return n.exempts(m.As) })
			b.certainties[m.As] = certainty{b.isEvidence(m.As), exempts}
		}
	}
}

// isEvidence reports whether some net or assertion uses the label as evidence.
func (b *vocabulary) isEvidence(name string) bool {
	l := &naming.Label{Text: name, From: naming.FromMap}
	for _, n := range b.nets {
		for i, t := range n.Info.Transitions {
			if (t.Observe || n.Adds[i]) && slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return naming.Matches(&tool, l) }) {
				return true
			}
		}
	}
	return slices.ContainsFunc(b.extra, func(t gate.Tool) bool { return naming.Matches(&t, l) })
}

// exempts reports whether the label, if it is certain, exempts calls from one of the net's
// transitions or phases.
func (n *Net) exempts(name string) bool {
	l := &naming.Label{Text: name, From: naming.FromMap}
	return slices.ContainsFunc(n.certain(), func(u gate.Tool) bool { return naming.Matches(&u, l) }) ||
		slices.ContainsFunc(n.Info.Transitions, func(t gate.Transition) bool {
			return slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return tool.Except == name })
		})
}

// kindsOf returns values that are matched by exactly the patterns in set, one value for each
// combination of properties of their labels. It returns none if no text is matched in this way.
// Whether the patterns in either match makes no difference, so they are allowed to match as well.
// ok is false if there are too many combinations.
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
		noop := unsought(ps, "true", "pwd", "date", "id")
		tried := append(withOperands(text), text+"; "+noop, text+"; "+text)
		for i := range members(set) { // all patterns might look for the same command
			tried = append(tried, withOperands(strings.Join(ps[i].script, " "))...)
		}
		tried = append(tried, scriptsOf(ps, set, text)...)
		for _, s := range tried {
			if hits, exact := b.reads(ps, set, s); exact && texts[hitsKey(hits)] == nil {
				texts[hitsKey(hits)] = []string{s}
			}
		}
	}
	return list.Map(ways, func(hits []hit) *value { return &value{field: field, hits: hits, texts: texts[hitsKey(hits)]} }), true
}

// scriptsOf returns scripts that consist of the commands that the patterns in set look for. In
// different scripts, different commands are evidence. Some of the scripts also run a command that
// no pattern looks for.
func scriptsOf(ps []pattern, set uint64, text string) (scripts []string) {
	other := unsought(ps, "date", "id", "hostname", "uname") // some readers assume that these commands have an effect
	var commands []string
	for i := range members(set) {
		if ps[i].script == nil {
			return []string{text + "; " + other, other + "; " + text}
		}
		commands = list.Add(commands, cmp.Or(ps[i].evidentCommand(), strings.Join(ps[i].script, " ")))
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

// withOperands returns the command itself and variants with operands that programs may require. It
// adds no operand after an option, because the option could take it as its value.
func withOperands(command string) []string {
	if last := command[strings.LastIndexByte(command, ' ')+1:]; strings.HasPrefix(last, "-") {
		return []string{command}
	}
	return []string{command, command + " a b", command + " https://example.com"}
}

// evidentCommand returns a command that is evidence for the label. It returns the empty string if
// no such command was found or if the map does not read scripts.
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

// hitsOf returns a hit for each pattern in set. Every hit is strong: its label is both certain and
// evidence.
func hitsOf(ps []pattern, set uint64) []hit {
	var hits []hit
	for i := range members(set) {
		hits = append(hits, hit{of: ps[i].mapping})
	}
	return hits
}

func hitsKey(hits []hit) string { return fmt.Sprint(hits) }

// reads returns the hits that the maps have in text, reduced to the properties that matter. exact
// is true if text is matched by all patterns in set and by no others.
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

// unsought returns the first of the commands that no pattern looks for. If patterns look for all of
// them, it returns the first command.
func unsought(ps []pattern, commands ...string) string {
	for _, s := range commands {
		if !slices.ContainsFunc(ps, func(p pattern) bool { return p.matches(s) }) {
			return s
		}
	}
	return commands[0]
}

// possibleHits returns the combinations of label properties that the maps with the given readers
// can produce together. Properties that do not matter are set to weak and uncertain. ok is false if
// there are too many combinations.
func (b *Enumerator) possibleHits(ps []pattern, set uint64, readers []int) (ways [][]hit, ok bool) {
	var matter []int
	var proving, exempting uint64 // the labels that matter as evidence, and those that matter as certain labels, as sets of indexes into matter
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
	if ps[readers[0]].Field == "" { // if a condition holds, its label has all its properties
		for strong := range partsOf(all) {
			if strong&^(proving|exempting) == 0 {
				take(strong&proving, strong&exempting)
			}
		}
		return ways, true
	}
	one := oneCommand(ps, readers)
	for _, plain := range []bool{true, false} { // start with the combinations where each label is both certain and evidence, or neither
		for certain := range partsOf(exempting) {
			if !one && !compatible(ps, readers, matter, certain) {
				continue
			}
			for evidence := range partsOf(proving) { // whether a label is evidence depends on only some of the script's commands
				if plain == (evidence&exempting == certain&proving) {
					take(evidence, certain)
				}
			}
		}
	}
	return ways, true
}

// oneCommand reports whether all readers could find the same single command. It is also true if the
// readers do not read scripts.
func oneCommand(ps []pattern, readers []int) bool {
	first := &ps[readers[0]]
	return !slices.ContainsFunc(readers, func(i int) bool {
		p := &ps[i]
		return (p.script == nil) != (first.script == nil) || p.script != nil && p.script[0] != first.script[0] && !carries(first, p) && !carries(p, first)
	})
}

// compatible reports whether a single script can make each of the strong labels certain and still
// contain the commands that the other readers find.
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

// carries reports whether a command that pattern p looks for, followed by more words, could also be
// a command that the pattern other looks for. An unknown program can have any arguments.
func carries(p, other *pattern) bool {
	return other.matches(strings.Join(p.script, " ") + " " + strings.Join(other.script, " "))
}

// spares reports whether the command of the pattern other has no effect. A script can then run it
// in addition to p's command and is otherwise a script that only runs p's command.
func spares(p, other *pattern) bool {
	own, inert := strings.Join(p.script, " "), strings.Join(other.script, " ")
	return slices.ContainsFunc([]string{inert + "; " + own, own + " | " + inert}, func(s string) bool { return p.read(s).Only(p.same) })
}
