package toolname

import "strings"

// An Owner is an upstream and the prefix of the names of its tools for clients.
type Owner struct{ Upstream, Prefix string }

// Owners are all configured upstreams. They decide which upstream a name belongs
// to, so that no server can change it by what it lists, now or later.
type Owners []Owner

// Exposed returns the upstream with the longest prefix that name begins with;
// empty if there is none, or several.
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

// Canonical returns the longest upstream that name begins with.
func (o Owners) Canonical(name string) (owner string) {
	for _, u := range o {
		if len(u.Upstream) > len(owner) && strings.HasPrefix(name, u.Upstream+".") {
			owner = u.Upstream
		}
	}
	return owner
}

// is reports whether name is that of an upstream. Followed by an action it reads
// like a tool of that upstream.
func (o Owners) is(name string) bool {
	for _, u := range o {
		if u.Upstream == name {
			return true
		}
	}
	return false
}

// Foreign reports whether the exposed name of the tool could also be one of
// another upstream.
func (o Owners) Foreign(t Names) bool {
	return len(o) > 1 && (t.Upstream == "" || o.Exposed(t.Exposed) != t.Upstream || t.Exposed != t.Upstream && o.is(t.Exposed))
}
