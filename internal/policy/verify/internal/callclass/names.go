package callclass

import (
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
)

// synthesizeTools adds tools and actions that the policy refers to only by patterns. It reports
// whether it has added all tools and actions that the policy can distinguish.
func (b *vocabulary) synthesizeTools(also map[string][]gate.Name) bool {
	var all, dots []string
	for _, g := range b.patterns() {
		if b.only != nil && !b.only[g] {
			continue
		}
		all = append(all, g.Text)
		if g.Actions {
			dots = append(dots, g.Text)
		}
	}
	if len(all) == 0 {
		return true
	}
	taken, named := b.taken(), len(b.tools)
	whole := synthesis{tries: b.tries, clock: b.clock, patterns: all, prefixes: []string{""}, taken: taken}
	fresh, complete := whole.names()
	if !complete {
		return false
	}
	if !b.complete {
		b.supposeMatched(&whole, fresh)
	}
	for _, f := range fresh {
		if i := strings.IndexByte(f.text, '.'); i > 0 && i < len(f.text)-1 {
			fresh := taken[f.text[:i]] && !b.isTool[f.text[:i]] // whether the part before the dot is a label, but not yet a tool
			b.addDotted(f.text)                                 // treat the name as though a rule listed it
			if fresh {
				b.supposed[f.text[:i]] = true
			}
		}
		if !strings.HasPrefix(f.text, ".") {
			b.tool(f.text) // with a leading dot, the name would denote a tool of a server without a name
		}
	}
	if len(dots) == 0 {
		return true
	}
	if name := plainName(all, taken); name != "" {
		b.tool(name)
	}
	if !b.synthesizeBases(whole, b.tools[named:]) {
		return false
	}
	for _, t := range b.tools {
		v := synthesis{tries: b.tries, clock: b.clock, patterns: dots, prefixes: []string{t + "."}, taken: b.takenActions(t, also[t], taken)}
		for _, a := range also[t] {
			v.prefixes = append(v.prefixes, a.Text+".")
		}
		actions, complete := v.names()
		if !complete {
			return false
		}
		for _, a := range actions {
			action := strings.TrimPrefix(a.text, t+".")
			b.action[t] = append(b.action[t], action)
			b.joint[t+"."+action] = isJoint(a, actions)
		}
	}
	return true
}

// supposeMatched adds tools that might exist and have the name of a label. It skips a label that no
// pattern matches. It also skips a label if the same patterns match a tool or a name in fresh,
// which contains the names synthesized so far.
func (b *vocabulary) supposeMatched(v *synthesis, fresh []synthName) {
	met := make(map[string]bool)
	for _, f := range fresh {
		met[f.set] = true
	}
	for _, name := range b.tools {
		set, _ := v.acceptedSet(v.statesAfter(name))
		met[set] = true
	}
	for _, m := range b.maps {
		set, wanted := v.acceptedSet(v.statesAfter(m.As))
		if wanted && !met[set] && !b.isTool[m.As] {
			b.supposed[m.As] = true
			b.tool(m.As)
		}
	}
}

// taken returns the names that must not be invented: tools, labels and actions of tools.
func (b *vocabulary) taken() map[string]bool {
	taken := maps.Clone(b.isTool)
	for name := range b.naming.Dotted() {
		taken[name] = true
	}
	for _, m := range b.maps {
		taken[m.As] = true
	}
	return taken
}

// synthesizeBases adds tools that differ only in the patterns that can match their actions. It
// skips a tool if the patterns do not distinguish it from a tool in unnamed, the tools synthesized
// earlier. complete is false if tools might be missing.
func (b *vocabulary) synthesizeBases(v synthesis, unnamed []string) (complete bool) {
	v.distinguish = func(at []uint64) string {
		after := v.step(at, '.')
		for i, p := range v.patterns {
			if !strings.Contains(p, ".") {
				after[i] = 0 // the pattern does not match actions, because it contains no dot
			}
		}
		if !slices.ContainsFunc(after, func(at uint64) bool { return at != 0 }) {
			return ""
		}
		return stateKey(after)
	}
	known := make(map[string]bool)
	for _, t := range unnamed {
		set, _ := v.acceptedSet(v.statesAfter(t))
		known[set] = true
	}
	bases, complete := v.names()
	for _, f := range bases {
		if !known[f.set] && !strings.HasPrefix(f.text, ".") {
			b.tool(f.text)
		}
	}
	return complete
}

// takenActions returns the names that synthesized actions of tool t must avoid: the names in taken,
// and the actions that rules mention under another name of t.
func (b *vocabulary) takenActions(t string, also []gate.Name, taken map[string]bool) map[string]bool {
	all := maps.Clone(taken)
	for _, a := range also {
		for _, action := range b.action[a.Text] {
			all[t+"."+action] = true
		}
	}
	return all
}

// addUnnamedTool adds a tool that the policy does not name. It does so only if an enforced net has
// phases, because a phase can forbid such tools.
func (b *vocabulary) addUnnamedTool() {
	phases := func(n *Net) bool { return len(n.Info.Phases) > 0 && !n.Info.Shadow }
	if !slices.ContainsFunc(b.nets, phases) {
		return
	}
	all := list.Map(b.patterns(), func(g naming.Pattern) string { return g.Text })
	if name := plainName(all, b.taken()); name != "" {
		b.tool(name)
	}
}

// plainName returns a name that no pattern matches, or the empty string if none was found.
func plainName(patterns []string, taken map[string]bool) string {
	names := []string{"tool"}
	for k := range 2 * maxMapsOfField {
		names = append(names, strings.Repeat(string(letters(patterns, taken)[0]), k+1))
	}
	for _, name := range names {
		if !taken[name] && !slices.ContainsFunc(patterns, func(p string) bool { return toolnet.MatchGlob(p, name) }) {
			return name
		}
	}
	return ""
}

// patterns returns the patterns for names of tools and actions: those in nets and assertions, in
// the policy's maps, and in the maps that belong to a single net.
func (b *vocabulary) patterns() []naming.Pattern {
	return slices.Concat(b.naming.Patterns(), patternsOf(b.naming.maps), list.FlatMap(b.nets, (*Net).patterns))
}
