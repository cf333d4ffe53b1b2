package callclass

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"

	"github.com/petrigate/petrigate/gate/naming"
)

// Gap returns the reason why nothing can be proved about the nets or about the calls that tag
// selects. The reason is that calls were omitted from the enumeration. If no relevant calls were
// omitted, Gap returns "".
func (b *Enumerator) Gap(nets []int, tag func(*Class) uint8) string {
	for _, g := range b.gaps {
		if g.tool == "" {
			return g.text
		}
		for _, s := range b.classes.List { // omitted classes might affect the same nets as the listed classes
			if s.Tool != g.tool {
				continue
			}
			if tag != nil && tag(s) != 0 || slices.ContainsFunc(s.Effects, func(t Effect) bool { return slices.Contains(nets, t.Net) }) {
				return g.text
			}
		}
	}
	_, gap := b.Kinds(nets, tag)
	return gap
}

// AnyGap returns the reason why an omitted call might have a name that no listed call has, or "" if
// no calls were omitted.
func (b *Enumerator) AnyGap() string {
	if len(b.gaps) == 0 {
		return ""
	}
	return b.gaps[0].text
}

// AllGaps returns the reasons why not all calls were enumerated, in order of discovery.
func (b *Enumerator) AllGaps() []string {
	return list.Add(list.Map(b.gaps, func(g gap) string { return g.text }), b.overflows...)
}

// Doubt returns the reason why an answer that depends on calls of class s is unknown. If the only
// reason is that the tool might not exist, supposed is the name of the tool. The reason then
// consists of the given prefix, such as "only if there is a tool ", and this name.
func (b *Enumerator) Doubt(s *Class, tool string) (why, supposed string) {
	switch {
	case !s.Doubtful && s.supposed:
		return tool + s.Tool, s.Tool
	case s.lacking != "":
		return fmt.Sprintf("it depends on whether %s takes the argument %q, which its schema does not list", s.Tool, s.lacking), ""
	}
	given := list.Filter(s.labels, func(l naming.Label) bool { return l.Glob == 0 && l.From&naming.FromTool == 0 })
	names := list.Map(given, func(l naming.Label) string { return l.Text + b.mappedAt(s.Tool, l.Text) })
	if len(names) == 0 {
		return fmt.Sprintf("no arguments of %s are known that match none of the maps", s.Tool), ""
	}
	return fmt.Sprintf("no arguments of %s are known that are %s and nothing else that matters here", s.Tool, joinNames(names)), ""
}

// mappedAt returns the position of the first map statement in the policy that gives this name to
// calls of the tool. The position has the form " (file:line)". If no such statement has a known
// position, mappedAt returns "".
func (b *vocabulary) mappedAt(tool, name string) string {
	for _, m := range b.naming.maps {
		if m.matchesTool(tool) && m.As == name && m.Rule.Line > 0 {
			return fmt.Sprintf(" (%s:%d)", m.Rule.File, m.Rule.Line)
		}
	}
	return ""
}

// joinNames returns the names as a list for use in a sentence, shortened if there are many.
func joinNames(names []string) string {
	const most = 8
	if len(names) > most {
		return text.First(most, names)
	}
	return text.And(names)
}
