package toolname

import (
	"slices"
	"strings"
)

// An Owner is an upstream together with the prefix of its tools in the names that clients see.
type Owner struct{ Upstream, Prefix string }

// Owners lists all enabled upstreams of a configuration. The configuration alone determines which
// upstream a name belongs to. A server therefore cannot claim a name by listing certain tools.
type Owners []Owner

// Exposed returns the upstream with the longest prefix that name begins with. It returns "" if
// there is no such prefix, or if several upstreams share the longest one.
func (o Owners) Exposed(name string) string {
	longest, owner := -1, ""
	for _, u := range o {
		switch n := len(u.Prefix); {
		case n < longest || !strings.HasPrefix(name, u.Prefix):
		case n == longest:
			owner = ""
		default:
			longest, owner = n, u.Upstream
		}
	}
	return owner
}

// Canonical returns the upstream that name begins with if name has the form upstream.tool. If
// several upstreams fit, it returns the one with the longest name.
func (o Owners) Canonical(name string) (owner string) {
	for _, u := range o {
		if len(u.Upstream) > len(owner) && strings.HasPrefix(name, u.Upstream+".") {
			owner = u.Upstream
		}
	}
	return owner
}

// isUpstream reports whether name is the name of an upstream. A tool with the same name would be
// ambiguous: a call to the tool with an action, such as name.action, looks like a call to a tool of
// the upstream.
func (o Owners) isUpstream(name string) bool {
	return slices.ContainsFunc(o, func(u Owner) bool { return u.Upstream == name })
}
