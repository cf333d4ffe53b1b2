package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// checkTools warns about names that do not belong to any known tool, and about arguments that no
// tool accepts. A rule with such a name or argument does not have the effect that its author
// expects. If the tools are unknown, checkTools only reports names that probably do not denote a
// tool.
func (b *builder) checkTools() {
	if b.source.Tools == nil {
		b.noteNames()
		return
	}
	given := b.checkMaps()
	known := slices.Concat(b.source.Tools, given)
	warned := make(map[string]bool)
	for s := range b.statements {
		for _, m := range mentions(s) {
			b.checkName(m, known, warned)
		}
		fieldChecker{b}.check(s)
	}
	for i := range b.source.Nets {
		b.checkNetTools(&b.source.Nets[i], given)
		fieldChecker{b}.checkNet(&b.source.Nets[i])
	}
}

// checkName warns about a name in a rule if no call can have the name. It reports each warning only
// once.
func (b *builder) checkName(m mention, known []string, warned map[string]bool) {
	n := m.Name
	key := n.String() + " " + m.so
	if warned[key] || beyondTools(n.Text) {
		return
	}
	var msg, hint string
	switch action, of := b.unknownAction(n); {
	case action != "":
		msg, hint = fmt.Sprintf("%s has no action %q", of, action), b.nearestAction(of, action)
	case isKnown(n, known):
		return
	case n.Glob():
		msg, hint = fmt.Sprintf("the pattern %q matches no known tool", n.Text), text.Suggest(n.Text, known)
	case b.givenBy(n.Text) != "":
		msg, hint = fmt.Sprintf("no call ever gets the name %s", n), "the map at "+b.givenBy(n.Text)+" never applies"
	default:
		msg, hint = fmt.Sprintf("unknown tool %q", n.Text), b.nearestTool(n.Text, known)
	}
	warned[key] = true
	b.atName(n, problem(diag.Warning, UnknownTool, n.Pos, msg+", "+m.so, hint))
}

// checkNetTools warns about unknown names in a net, and about map entries that read an argument
// that their tool does not accept. A name is known if a tool has it, or if a map statement or a map
// entry of the net assigns it.
func (b *builder) checkNetTools(n *config.Net, given []string) {
	check := func(names, known []string, where func(name string) gate.Position, so func(name string) string) {
		for _, name := range names {
			if !slices.Contains(known, name) && !beyondTools(name) {
				msg := fmt.Sprintf("unknown tool %q, %s", name, so(name))
				b.inNet(n, problem(diag.Warning, UnknownTool, where(name), msg, b.nearestTool(name, known)))
			}
		}
	}
	always := func(so string) func(string) string { return func(string) string { return so } }
	known := slices.Concat(b.source.Tools, given)
	for _, m := range n.Map {
		check([]string{m.Tool}, b.source.Tools, func(string) gate.Position { return at(m.Of("tool", ""), m.Position) }, always("so this map never applies"))
		b.checkNetField(n, m)
		known = append(known, m.As)
	}
	check(n.FreeTools, known, places(n.Of, "freeTools", n.Position), always("so this entry does nothing"))
	for _, t := range n.Transitions {
		if len(t.Except) == 0 {
			check(t.Tools, known, places(t.Of, "tools", t.Position), always(fmt.Sprintf("so no call to it fires %q", t.Name)))
		}
		exempt := func(tool string) string { return "so nothing is exempt as " + tool }
		check(t.Unless, known, places(t.Of, "unless", t.Position), exempt)
		check(t.Except, known, places(t.Of, "except", t.Position), exempt)
	}
	for _, place := range allowed(n) {
		b.checkAllow(n, place, known)
	}
}

// checkAllow warns about unknown names in the net's allowlist for the given place.
func (b *builder) checkAllow(n *config.Net, place string, known []string) {
	where := places(n.Allowed, place, n.Position)
	for _, name := range n.Allow[place] {
		msg, hint := fmt.Sprintf("unknown tool %q", name), b.nearestTool(name, known)
		switch {
		case beyondTools(name) || slices.Contains(known, name):
			continue
		case isPattern(name):
			if strings.Contains(name, ".") || slices.ContainsFunc(known, func(tool string) bool { return toolnet.MatchGlob(name, tool) }) {
				continue
			}
			msg, hint = fmt.Sprintf("the pattern %q matches no known tool", name), text.Suggest(name, known)
		}
		b.inNet(n, problem(diag.Warning, UnknownTool, where(name), fmt.Sprintf("%s, so the rule allows nothing by this name in %s", msg, place), hint))
	}
}

// noteNames reports names that probably do not denote a tool. It is used if the servers' names are
// known but their tools are not.
func (b *builder) noteNames() {
	var servers []string
	if b.source.Config != nil {
		servers = list.Map(b.source.Config.Servers, func(s config.Server) string { return s.Name })
	}
	names := list.FlatMap(b.files, (*rules.File).Names)
	noted := make(map[string]bool)
	for i, n := range names {
		msg, hint := b.explainOddName(n, servers, names[:i])
		if msg != "" && !noted[n.Text] && !beyondTools(n.Text) {
			noted[n.Text] = true
			b.atName(n, problem(diag.Note, UnknownTool, n.Pos, msg, hint))
		}
	}
}

// explainOddName returns the reason why a name probably does not denote a tool, and a hint. If it
// finds no reason, both are empty. It compares the name with the earlier names in the rules, which
// might differ only in case.
func (b *builder) explainOddName(n rules.Name, servers []string, earlier []rules.Name) (msg, hint string) {
	if n.Quoted || b.givenBy(n.Text) != "" {
		return "", ""
	}
	for _, sign := range []string{":", "/"} {
		if server, tool, ok := strings.Cut(n.Text, sign); ok && slices.Contains(servers, server) {
			return fmt.Sprintf("the server %[2]s has no tool %[1]q", n.Text, server), fmt.Sprintf("did you mean %q?", server+"."+tool)
		}
	}
	// If the part before the dot does not resemble the name of a server, it may be a tool, and the
	// rest an action of the tool.
	if server, tool, ok := strings.Cut(n.Text, "."); ok && !n.Glob() && !slices.Contains(servers, server) && !b.isTool(server) {
		if near := text.Nearest(server, servers); near != "" {
			return fmt.Sprintf("unknown server %s", server), fmt.Sprintf("did you mean %q?", near+"."+tool)
		}
	}
	for _, other := range earlier {
		if other.Text != n.Text && strings.EqualFold(other.Text, n.Text) {
			return fmt.Sprintf("%s and %s are two names that differ only in case", n, other), "use the same spelling if you mean the same tool"
		}
	}
	return "", ""
}

// isTool reports whether the name probably denotes a tool, because the rules use it on its own,
// without an action.
func (b *builder) isTool(name string) bool {
	if slices.ContainsFunc(b.labels.Maps, func(m gate.Map) bool { return m.Tool == name }) {
		return true
	}
	return slices.ContainsFunc(b.files, func(f *rules.File) bool {
		return slices.ContainsFunc(f.Names(), func(n rules.Name) bool { return n.Text == name })
	})
}
