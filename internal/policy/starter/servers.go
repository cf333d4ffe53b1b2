package starter

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// A tool is a server's tool with its guessed properties.
type tool struct {
	toolkind.Guess
	name  string // name as written in rules
	asked string // name used in approval statements if calls are allowed by default; see visibleName
	bare  string
}

// A server describes a configured server. Its tools are sorted by name.
type server struct {
	name  string
	known string // name of the matching well-known server; may be empty
	tools []tool

	success map[string]string // success conditions of tools that run scripts, keyed by unqualified name; the condition is "true" if isError reports failures
}

// ofKind returns the names of the tools of the given kinds.
func ofKind(tools []tool, kinds ...toolkind.Kind) (names []string) {
	for _, t := range tools {
		if slices.Contains(kinds, t.Kind) {
			names = append(names, t.name)
		}
	}
	return names
}

// guess groups the tools by server and guesses the effect of each tool.
func guess(tools []check.ListedTool, servers []config.Server) (all []server) {
	of := map[string][]check.ListedTool{}
	for _, t := range tools {
		name := strings.TrimSuffix(strings.TrimSuffix(t.Canonical, t.Bare), ".")
		of[name] = append(of[name], t)
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		s := server{name: name}
		var start []string
		for _, c := range servers {
			if c.Name == name {
				start = append(append(start, c.Command, c.URL), c.Args...)
			}
		}
		known := toolkind.FindServer(start, list.Map(of[name], func(t check.ListedTool) string { return t.Bare }))
		if known != nil {
			s.known, s.success = known.Name, known.Success
		}
		for _, t := range of[name] {
			g := toolkind.Classify(toolkind.ListedTool{Name: t.Bare, Schema: t.InputSchema, Annotations: t.Annotations}, known)
			s.tools = append(s.tools, tool{g, rules.Written(t.Exposed), visibleName(t.Exposed), t.Bare})
		}
		slices.SortFunc(s.tools, func(a, b tool) int { return cmp.Compare(a.name, b.name) })
		all = append(all, s)
	}
	return all
}

// visibleName returns the name used in approval statements if calls are allowed by default. If the
// name contains invisible characters, visibleName returns a glob, because "petrigate check"
// complains about such characters. The glob may match other tools as well, but it always matches
// this tool, so the tool cannot evade approval.
func visibleName(name string) string {
	if !strings.ContainsFunc(name, hidden) {
		return rules.Written(name)
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '?'
	}, name)
}

func hidden(r rune) bool { return text.Hidden(r) || unicode.IsControl(r) }
