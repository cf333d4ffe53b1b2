package toolname

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// A Filter selects which tools of a server clients can use. Its glob patterns apply to the server's
// own tool names: * matches any sequence of characters, and ? matches one character. A tool is
// filtered out if a pattern in Deny matches it or no pattern in Allow does. Such a tool is not
// listed and cannot be called.
type Filter struct {
	Allow []string // patterns of allowed tools; nil means all tools
	Deny  []string
}

// Filtered returns the reason why the tool is filtered out, or "" if it is not.
func (f Filter) Filtered(name string) (why string) {
	matches := func(pattern string) bool { return toolnet.MatchGlob(pattern, name) }
	if i := slices.IndexFunc(f.Deny, matches); i >= 0 {
		return fmt.Sprintf("tools.deny has %q", f.Deny[i])
	}
	if f.Allow != nil && !slices.ContainsFunc(f.Allow, matches) {
		return "tools.allow does not have it"
	}
	return ""
}

// Unmatched returns a warning for each pattern that matches none of the names and so has no effect.
func (f Filter) Unmatched(names []string) (warnings []string) {
	for _, list := range []struct {
		key      string
		patterns []string
	}{{"allow", f.Allow}, {"deny", f.Deny}} {
		for _, pattern := range list.patterns {
			if !slices.ContainsFunc(names, func(name string) bool { return toolnet.MatchGlob(pattern, name) }) {
				warnings = append(warnings, fmt.Sprintf("tools.%s: %q matches no tool", list.key, pattern))
			}
		}
	}
	return warnings
}
