package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/rules"
)

// servers holds a proxy's enabled servers and the prefixes of their tools. It is used to check the
// bare names in a policy, which are tool names without a prefix. If there are several servers, a
// bare name can restrict their tools, but it cannot identify the tool of a particular server.
type servers toolname.Owners

// Owners returns the configuration's enabled servers with the prefixes of their tools.
func Owners(c *config.Config) toolname.Owners {
	if c == nil {
		return nil
	}
	enabled := list.Filter(c.Servers, func(s config.Server) bool { return !s.Disabled })
	return list.Map(enabled, func(s config.Server) toolname.Owner {
		return toolname.Owner{Upstream: s.Name, Prefix: toolname.Prefix(s.Name, s.Prefix, s.HasPrefix, len(enabled) == 1)}
	})
}

// spellings returns name n and the other names of the tool that n denotes: the qualified name
// ("gh.merge"), the name that clients see ("gh_merge"), and the bare name.
func (all servers) spellings(n rules.Name) []rules.Name {
	names := []rules.Name{n}
	if n.Glob() {
		return names
	}
	for _, s := range all {
		bare, found := strings.CutPrefix(n.Text, s.Upstream+".")
		if !found {
			bare = strings.TrimPrefix(n.Text, s.Prefix)
		}
		for _, text := range []string{s.Upstream + "." + bare, s.Prefix + bare, bare} {
			other := n
			other.Text = text
			names = append(names, other)
		}
	}
	return names
}

// identifiesServer reports whether a tool's name, or a pattern for such names, identifies the
// tool's server.
func (all servers) identifiesServer(name string, glob bool) bool {
	begins := func(prefix string) bool {
		return strings.HasPrefix(name, prefix) && len(name) > len(prefix) || glob && mayBegin(name, prefix)
	}
	if begins("prompt:") || begins("resource:") {
		return true
	}
	prefixes := make(map[string]int)
	for _, s := range all {
		prefixes[s.Prefix]++
	}
	return slices.ContainsFunc(all, func(s toolname.Owner) bool {
		return begins(s.Upstream+".") || prefixes[s.Prefix] == 1 && begins(s.Prefix)
	})
}

// mayBegin reports whether the pattern can match a name that begins with the given prefix.
func mayBegin(pattern, prefix string) bool {
	for i := range len(prefix) {
		switch {
		case i == len(pattern):
			return false
		case pattern[i] == '*':
			return true
		case pattern[i] != '?' && pattern[i] != prefix[i]:
			return false
		}
	}
	return true
}

// checkBare reports bare names that are ambiguous because tools of several servers may have them.
// It does so only where the name must identify the tool of a particular server.
func (b *builder) checkBare() {
	all := servers(Owners(b.source.Config))
	if len(all) < 2 {
		return
	}
	c := &bareNames{builder: b, servers: all, labels: make(map[string][]string)}
	for s := range b.statements {
		if m, ok := s.(*rules.Map); ok {
			c.labels[m.As.Text] = append(c.labels[m.As.Text], list.Map(m.Tools, textOf)...)
		}
	}
	for s := range b.statements {
		for _, m := range mentions(s) {
			if msg, hint := c.problemOf(m.use, m.Text, m.Glob(), c.labels); msg != "" {
				c.atName(m.Name, problem(diag.Error, BareName, m.Pos, msg, hint))
			}
		}
	}
	for i := range b.source.Nets {
		c.net(&b.source.Nets[i])
	}
}

// bareNames checks a policy for bare names that tools of several servers may have.
type bareNames struct {
	*builder
	servers servers
	labels  map[string][]string // for each name that map statements in the rules assign, the tools of these statements
}

func (c *bareNames) net(n *config.Net) {
	labels := make(map[string][]string)
	for _, m := range n.Map {
		labels[m.As] = append(labels[m.As], m.Tool)
	}
	check := func(u use, names []string, where func(string) gate.Position) {
		for _, name := range names {
			if msg, hint := c.problemOf(u, name, u == lists && isPattern(name), labels); msg != "" {
				c.inNet(n, problem(diag.Error, BareName, where(name), msg, hint))
			}
		}
	}
	check(admits, n.FreeTools, places(n.Of, "freeTools", n.Position))
	for _, t := range n.Transitions {
		u := admits
		if progresses(t) {
			u = proves
		}
		if len(t.Except) == 0 && (u == proves || !t.Observe) {
			check(u, t.Tools, places(t.Of, "tools", t.Position))
		}
		check(exempts, t.Unless, places(t.Of, "unless", t.Position))
		check(exempts, t.Except, places(t.Of, "except", t.Position))
	}
	for _, place := range allowed(n) {
		check(lists, n.Allow[place], places(n.Allowed, place, n.Position))
	}
}

// progresses reports whether the transition puts more tokens into some place than it takes from it.
func progresses(t config.Transition) bool {
	left := slices.Clone(t.Inputs)
	for _, place := range t.Outputs {
		i := slices.Index(left, place)
		if i < 0 {
			return true
		}
		left = slices.Delete(left, i, i+1)
	}
	return false
}

// problemOf returns a message and a hint if the name must identify the server or agent of its tool
// but does not. Otherwise, both strings are empty.
func (c *bareNames) problemOf(u use, name string, glob bool, labels map[string][]string) (msg, hint string) {
	if u == forbids || c.identifiesOwner(name, glob) || u == admits && c.source.Default != "deny" {
		return "", ""
	}
	var read []string
	for label, tools := range labels {
		if label == name || glob && toolnet.MatchGlob(name, label) {
			read = append(read, tools...)
		}
	}
	if len(read) == 0 {
		return c.bare(u, name, glob)
	}
	slices.Sort(read)
	if u == admits || slices.ContainsFunc(read, func(tool string) bool { return c.identifiesOwner(tool, strings.ContainsAny(tool, "*?")) }) {
		return "", ""
	}
	return fmt.Sprintf("%q is a label for calls to %s, which may be a tool of %s, so %s", name, read[0], c.servers.joined(), u),
		"name the tool's owner in the map: " + c.ways(read[0], "_") + ofAgents(read[0])
}

// identifiesOwner reports whether the name identifies the owner of its tool: a server or an agent.
// If the configuration accepts hook events, the bare name of an agent's built-in tool is
// sufficient.
func (c *bareNames) identifiesOwner(name string, glob bool) bool {
	if c.servers.identifiesServer(name, glob) {
		return true
	}
	if agent, tool, found := strings.Cut(name, "."); found {
		return slices.Contains(agenttool.Agents(), agent) && tool != ""
	}
	return !glob && c.source.Config.Listen.Hooks && slices.Contains(agenttool.Names(), name)
}

// ofAgents returns a hint on how to write the name of an agent's tool, or "" if the name does not
// clearly denote the tool of an agent.
func ofAgents(name string) string {
	if full := agenttool.Qualified(name); full != "" {
		return fmt.Sprintf("; for an agent's own tool, write %q", full)
	}
	return ""
}

func (c *bareNames) bare(u use, name string, glob bool) (msg, hint string) {
	verb := "be"
	if glob {
		verb = "match"
	}
	return fmt.Sprintf("%q may %s a tool of %s, so %s", name, verb, c.servers.joined(), u), "write " + c.ways(name, ".") + ofAgents(name)
}

// joined returns the servers' names as a list for use in a sentence.
func (all servers) joined() string {
	return enumerate(list.Map(all, func(s toolname.Owner) string { return s.Upstream }))
}

// ways returns the names that would identify the tool's server, as a list for use in a sentence. If
// the tools are known, ways considers only servers that have the tool.
func (c *bareNames) ways(name, dot string) string {
	owners := list.Filter(c.servers, func(s toolname.Owner) bool { return slices.Contains(c.source.Tools, s.Upstream+"."+name) })
	if len(owners) == 0 {
		owners = c.servers
	}
	return enumerate(list.Map(owners, func(s toolname.Owner) string {
		if dot == "_" {
			return s.Prefix + name
		}
		return s.Upstream + dot + name
	}))
}

// enumerate joins the words with "or". If there are many words, it uses only the first few.
func enumerate(words []string) string {
	const few = 4
	if len(words) > few {
		words = append(slices.Clone(words[:few-1]), "another")
	}
	return text.Join(words, "or")
}
