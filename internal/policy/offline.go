package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// noteNames notes names that most probably are of no tool, where the tools are
// not known: what the servers of a configuration are called is.
func (b *builder) noteNames() {
	var servers []string
	if b.source.Config != nil {
		for _, s := range b.source.Config.Servers {
			servers = append(servers, s.Name)
		}
	}
	var names []rules.Name
	for _, f := range b.files {
		names = append(names, f.Names()...)
	}
	noted := make(map[string]bool)
	for i, n := range names {
		msg, hint := b.oddName(n, servers, names[:i])
		if msg != "" && !noted[n.Text] && !beyondTools(n.Text) {
			noted[n.Text] = true
			b.atName(n, problem(diag.Note, UnknownTool, n.Pos, msg, hint))
		}
	}
}

// oddName says what is odd about a name. before are those that were written
// before it.
func (b *builder) oddName(n rules.Name, servers []string, before []rules.Name) (msg, hint string) {
	if n.Quoted || b.givenBy(n.Text) != "" {
		return "", ""
	}
	for _, sign := range []string{":", "/"} {
		if server, tool, ok := strings.Cut(n.Text, sign); ok && slices.Contains(servers, server) {
			return fmt.Sprintf("%q names no tool of the server %s", n.Text, server), fmt.Sprintf("did you mean %q?", server+"."+tool)
		}
	}
	// A server that is near none is left alone: it may be a tool, and this its action.
	if server, tool, ok := strings.Cut(n.Text, "."); ok && !n.Glob() && !slices.Contains(servers, server) && !b.isTool(server) {
		if near := text.Nearest(server, servers); near != "" {
			return fmt.Sprintf("no server is named %s", server), fmt.Sprintf("did you mean %q?", near+"."+tool)
		}
	}
	for _, other := range before {
		if other.Text != n.Text && strings.EqualFold(other.Text, n.Text) {
			return fmt.Sprintf("%s and %s are two names, which differ in case only", n, other), "write them alike if one tool is meant"
		}
	}
	return "", ""
}

// isTool reports whether the rules take a name for that of a tool elsewhere.
func (b *builder) isTool(name string) bool {
	if slices.ContainsFunc(b.labels.Maps, func(m gate.Map) bool { return m.Tool == name }) {
		return true
	}
	return slices.ContainsFunc(b.files, func(f *rules.File) bool {
		return slices.ContainsFunc(f.Names(), func(n rules.Name) bool { return n.Text == name })
	})
}
