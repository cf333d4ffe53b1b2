package toolname

import (
	"slices"
	"strings"
)

// An Owner is an upstream and the prefix that clients see in the names of its tools.
type Owner struct{ Upstream, Prefix string }

// Owners lists all enabled upstreams of a configuration. The configuration alone determines which
// upstream a name belongs to. A server therefore cannot claim a name by listing certain tools.
type Owners []Owner

// Exposed returns the upstream that has the longest prefix of the name. It returns "" if no
// upstream has a matching prefix, or if several upstreams share the longest one.
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

// Canonical returns the upstream in a name of the form upstream.tool, or "" if no upstream fits. If
// several upstreams fit, it returns the one with the longest name.
func (o Owners) Canonical(name string) (owner string) {
	for _, u := range o {
		if len(u.Upstream) > len(owner) && strings.HasPrefix(name, u.Upstream+".") {
			owner = u.Upstream
		}
	}
	return owner
}

// isUpstream reports whether an upstream has the given name. A tool with the name of an upstream is
// ambiguous in rules: NAME.x can stand for a call to the tool with the action x, or for a call to
// the upstream's tool x.
func (o Owners) isUpstream(name string) bool {
	return slices.ContainsFunc(o, func(u Owner) bool { return u.Upstream == name })
}
