package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/rules"
)

// checkTools warns of names that no known tool has: a rule about a misspelt
// tool holds for nothing.
func (b *builder) checkTools() {
	if b.source.Tools == nil {
		return
	}
	labels := slices.Clone(b.source.Tools)
	for _, f := range b.files {
		labels = append(labels, f.Labels()...)
	}
	warned := make(map[string]bool)
	for _, f := range b.files {
		for _, n := range f.Tools() {
			b.checkName(n, b.source.Tools, warned)
		}
		for _, n := range f.Names() {
			b.checkName(n, labels, warned)
		}
	}
	for i := range b.source.Nets {
		b.checkNetTools(&b.source.Nets[i])
	}
}

// atName records a problem of a name in rules.
func (b *builder) atName(n rules.Name, p Problem) {
	p.Excerpt = n.Excerpt()
	b.add(p)
}

// checkName warns once of a name of rules.
func (b *builder) checkName(n rules.Name, known []string, warned map[string]bool) {
	if warned[n.String()] || isKnown(n, known) {
		return
	}
	warned[n.String()] = true
	msg := fmt.Sprintf("unknown tool %q", n.Text)
	if n.Glob() {
		msg = fmt.Sprintf("the pattern %q matches no known tool", n.Text)
	}
	b.atName(n, problem(Warning, UnknownTool, n.Pos, msg, didYouMean(n.Text, known)))
}

func isKnown(n rules.Name, known []string) bool {
	switch {
	case n.Glob():
		// With a dot it is also about actions, which nobody lists.
		return strings.Contains(n.Text, ".") || slices.ContainsFunc(known, n.Matches)
	case slices.Contains(known, n.Text):
		return true
	}
	return !n.Quoted && slices.ContainsFunc(known, func(tool string) bool { return strings.HasPrefix(n.Text, tool+".") })
}

// checkNetTools warns of names in a net that neither a tool has nor its maps give.
func (b *builder) checkNetTools(n *config.Net) {
	known := slices.Clone(b.source.Tools)
	for _, m := range n.Map {
		if !slices.Contains(b.source.Tools, m.Tool) {
			b.unknown(n, m.Tool, at(m.Of("tool", ""), m.Position), b.source.Tools)
		}
		known = append(known, m.As)
	}
	for _, tool := range n.FreeTools {
		if !slices.Contains(known, tool) {
			b.unknown(n, tool, at(n.Of("freeTools", tool), n.Position), known)
		}
	}
	for _, t := range n.Transitions {
		for _, tool := range t.Tools {
			if !slices.Contains(known, tool) {
				b.unknown(n, tool, at(t.Of("tools", tool), t.Position), known)
			}
		}
		for _, tool := range t.Unless {
			if !slices.Contains(known, tool) {
				b.unknown(n, tool, at(t.Of("unless", tool), t.Position), known)
			}
		}
	}
}

func (b *builder) unknown(n *config.Net, tool string, where gate.Position, known []string) {
	b.inNet(n, problem(Warning, UnknownTool, where, fmt.Sprintf("unknown tool %q", tool), didYouMean(tool, known)))
}

func didYouMean(word string, known []string) string {
	if near := rules.Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}
