package toolname

import (
	"slices"
	"strings"
)

// An Owner is an upstream with the prefix of the names that clients see for its tools.
type Owner struct{ Upstream, Prefix string }

// Owners lists all configured upstreams. Only the configuration determines which upstream a name
// belongs to, so that a server cannot influence this by listing certain tools.
type Owners []Owner

// Exposed returns the upstream with the longest prefix that the name begins with. It returns "" if
// no prefix matches, or if several upstreams have that prefix.
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

// Canonical returns the upstream that the name begins with, followed by a dot. If there are
// several, it returns the one with the longest name.
func (o Owners) Canonical(name string) (owner string) {
	for _, u := range o {
		if len(u.Upstream) > len(owner) && strings.HasPrefix(name, u.Upstream+".") {
			owner = u.Upstream
		}
	}
	return owner
}

// isUpstream reports whether name is the name of an upstream. Such a name, followed by an action,
// looks like a tool of the upstream.
func (o Owners) isUpstream(name string) bool {
	return slices.ContainsFunc(o, func(u Owner) bool { return u.Upstream == name })
}
