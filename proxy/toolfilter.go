package proxy

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// A ToolFilter says which tools of an upstream there are for clients. The
// patterns are over the upstream's own names: * is any run of characters, ? is
// one. What a pattern of Deny matches is withheld, and so is what none of Allow
// does. A tool that is withheld is neither listed nor can it be called.
type ToolFilter struct {
	Allow []string // nil: all
	Deny  []string
}

// withholds is why there is no such tool for clients; empty: there is.
func (f ToolFilter) withholds(name string) (why string) {
	matches := func(pattern string) bool { return gate.MatchGlob(pattern, name) }
	if i := slices.IndexFunc(f.Deny, matches); i >= 0 {
		return fmt.Sprintf("tools.deny has %q", f.Deny[i])
	}
	if f.Allow != nil && !slices.ContainsFunc(f.Allow, matches) {
		return "tools.allow does not have it"
	}
	return ""
}

// idle are the patterns that match none of the names: they do not say what
// whoever wrote them meant.
func (f ToolFilter) idle(names []string) (found []string) {
	for _, list := range []struct {
		key      string
		patterns []string
	}{{"allow", f.Allow}, {"deny", f.Deny}} {
		for _, pattern := range list.patterns {
			if !slices.ContainsFunc(names, func(name string) bool { return gate.MatchGlob(pattern, name) }) {
				found = append(found, fmt.Sprintf("tools.%s: %q matches no tool", list.key, pattern))
			}
		}
	}
	return found
}

// withheld answers a call of a tool that is there and not for clients.
func (t *toolCall) withheld(w *tool) {
	t.tool = w
	r := plainRefusal("withheld", fmt.Sprintf("%s cannot be called: the configuration does not offer this tool of the upstream %s (%s). Calling it again will not help.",
		w.exposed, w.upstream.config.Name, w.why))
	t.proxy.recordRefusal(t, r, nil)
	t.answer(r)
}
