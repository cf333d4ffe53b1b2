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

// A map statement gives a label, an additional name, to the calls that it matches. A map statement
// with a reader, such as one for shell scripts, can be unsure about a script. Calls with the label
// then differ in two properties: whether they are certain to have the label, and whether their
// success counts toward requirements that name it. If several such statements match the same
// script, only some combinations of these properties are possible. kindsOf returns values for these
// combinations.

// maxLabels limits the number of labels per value whose properties are enumerated, because the
// number of combinations grows exponentially.
const maxLabels = 6

// findCertainties determines which properties of a label matter, for each label that a reader
// assigns. The certainty of the label matters only if the label can exempt a call from a rule or
// from "default: deny". The success of calls with the label matters only if some net or assertion
// depends on it.
func (b *Enumerator) findCertainties() {
	b.certainties = make(map[string]certainty)
	for _, m := range b.maps {
		if m.Reader != nil {
			exempts := b.Deny || slices.ContainsFunc(b.nets, func(n *Net) bool { return n.exempts(m.As) })
			b.certainties[m.As] = certainty{b.isEvidence(m.As), exempts}
		}
	}
}

// isEvidence reports whether some net or assertion depends on the success of calls with the label.
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

// exempts reports whether calls that are certain to have the label are exempt from a transition or
// phase of the net.
func (n *Net) exempts(name string) bool {
	l := &naming.Label{Text: name, From: naming.FromMap}
	return slices.ContainsFunc(n.certainNames(), func(u gate.Tool) bool { return naming.Matches(&u, l) }) ||
		slices.ContainsFunc(n.Info.Transitions, func(t gate.Transition) bool {
			return slices.ContainsFunc(t.Tools, func(tool gate.Tool) bool { return tool.Except == name })
		})
}

// kindsOf returns values of the field that match the patterns in set and no others. It returns one
// value for each possible combination of label properties. It returns no values if a simple check
// shows that such a value always matches another pattern; this check ignores the patterns in
// either. ok is false if there are too many combinations.
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
		noop := unsoughtCommand(ps, "true", "pwd", "date", "id")
		tried := append(withOperands(text), text+"; "+noop, text+"; "+text)
		for i := range members(set) { // a command for one pattern might match other patterns, too
			tried = append(tried, withOperands(strings.Join(ps[i].script, " "))...)
		}
		tried = append(tried, scriptsOf(ps, set, text)...)
		for _, s := range tried {
			if hits, exact := b.exactHits(ps, set, s); exact && texts[hitsKey(hits)] == nil {
				texts[hitsKey(hits)] = []string{s}
			}
		}
	}
	return list.Map(ways, func(hits []hit) *value { return &value{field: field, hits: hits, texts: texts[hitsKey(hits)]} }), true
}

// scriptsOf returns scripts that run the commands of the patterns in set. The scripts ignore
// failures of different subsets of these commands. Some scripts also run an unrelated command.
func scriptsOf(ps []pattern, set uint64, text string) (scripts []string) {
	other := unsoughtCommand(ps, "date", "id", "hostname", "uname") // an unrelated command can make labels uncertain
	var commands []string
	for i := range members(set) {
		if ps[i].script == nil {
			return []string{text + "; " + other, other + "; " + text}
		}
		commands = list.Add(commands, cmp.Or(ps[i].evidentCommand(), strings.Join(ps[i].script, " ")))
	}
	scripts = append(scripts, text+"; "+other, other+"; "+text)
	if len(commands) > maxLabels {
		return scripts
	}
	for last := range partsOf(1<<len(commands) - 1) {
		proving, rest := selectBySet(commands, last), selectBySet(commands, (1<<len(commands)-1)&^last)
		if len(proving) > 0 {
			script := strings.Join(append(rest, strings.Join(proving, " && ")), "; ")
			scripts = append(scripts, script, other+"; "+script)
		}
	}
	return scripts
}

// withOperands returns the command itself and variants with operands that its program may require.
// If the command ends with an option, it returns no variants, because the option could take the
// operand as its value.
func withOperands(command string) []string {
	if last := command[strings.LastIndexByte(command, ' ')+1:]; strings.HasPrefix(last, "-") {
		return []string{command}
	}
	return []string{command, command + " a b", command + " https://example.com"}
}

// evidentCommand returns a command that certainly matches p and whose success counts toward
// requirements that name p's label. If it finds no such command, it returns "".
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

// hitsOf returns a [hit], which records a match, for each pattern in set. Its fields weak and
// certain are not set.
func hitsOf(ps []pattern, set uint64) []hit {
	var hits []hit
	for i := range members(set) {
		hits = append(hits, hit{of: ps[i].mapping})
	}
	return hits
}

func hitsKey(hits []hit) string { return fmt.Sprint(hits) }

// exactHits checks whether text matches all patterns in set and no others. If so, it returns a
// [hit] for each pattern in set. Otherwise, exact is false. A label property that makes no
// difference is recorded as absent.
func (b *Enumerator) exactHits(ps []pattern, set uint64, text string) (hits []hit, exact bool) {
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

// unsoughtCommand returns the first command that no pattern looks for. If patterns look for all
// commands, it returns commands[0].
func unsoughtCommand(ps []pattern, commands ...string) string {
	for _, s := range commands {
		if !slices.ContainsFunc(ps, func(p pattern) bool { return p.matches(s) }) {
			return s
		}
	}
	return commands[0]
}

// possibleHits returns the combinations of label properties that are possible for a value that
// matches the patterns in set and no others. Properties that make no difference do not vary.
// readers holds the indexes of the patterns that use a reader. ok is false if there are too many
// combinations.
func (b *Enumerator) possibleHits(ps []pattern, set uint64, readers []int) (ways [][]hit, ok bool) {
	var matter []int
	var proving, exempting uint64 // bit k refers to the label of pattern ps[matter[k]]: in proving, whether the success of its calls can count toward requirements; in exempting, whether its calls can be certain to have the label
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
	if len(matter) > maxLabels {
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
	if ps[readers[0]].Field == "" { // if a condition on the whole call holds, the label has all properties that it can have; if it only might hold, the label has none of them
		for strong := range partsOf(all) {
			if strong&^(proving|exempting) == 0 {
				take(strong&proving, strong&exempting)
			}
		}
		return ways, true
	}
	one := oneCommand(ps, readers)
	for _, plain := range []bool{true, false} { // start with the simple combinations: each label that can have both properties has both or neither
		for certain := range partsOf(exempting) {
			if !one && !compatible(ps, readers, matter, certain) {
				continue
			}
			for evidence := range partsOf(proving) { // a script can ignore the failure of any command, so every subset is possible
				if plain == (evidence&exempting == certain&proving) {
					take(evidence, certain)
				}
			}
		}
	}
	return ways, true
}

// oneCommand reports whether a single command might match the patterns with the given indexes. It
// returns true if none of these patterns looks for commands.
func oneCommand(ps []pattern, readers []int) bool {
	first := &ps[readers[0]]
	return !slices.ContainsFunc(readers, func(i int) bool {
		p := &ps[i]
		return (p.script == nil) != (first.script == nil) || p.script != nil && p.script[0] != first.script[0] && !carries(first, p) && !carries(p, first)
	})
}

// compatible reports whether a single call might match all patterns in readers and be certain to
// have the labels in strong. The elements of readers and matter are indexes of patterns in ps. Bit
// k of strong stands for the label of ps[matter[k]].
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

// carries reports whether p's command followed by other's command matches other, as in "sudo rm".
func carries(p, other *pattern) bool {
	return other.matches(strings.Join(p.script, " ") + " " + strings.Join(other.script, " "))
}

// spares reports whether p's label stays certain if the script also runs the command of other. This
// is so if the command is known to have no effect.
func spares(p, other *pattern) bool {
	own, inert := strings.Join(p.script, " "), strings.Join(other.script, " ")
	return slices.ContainsFunc([]string{inert + "; " + own, own + " | " + inert}, func(s string) bool { return p.read(s).Only(p.same) })
}
