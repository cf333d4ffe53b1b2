package fingerprint

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// WithMaps returns a net's fingerprint, extended to cover the given map entries. These should be
// the entries that produce names listed by the net; see [toolnet.Map].
func WithMaps(print string, maps []toolnet.Map) string {
	if len(maps) == 0 {
		return print
	}
	return hash(struct {
		Print string
		Maps  []mapIdentity
	}{print, mapIdentities(maps)})
}

// Limit returns a fingerprint that stays the same if only the numbers of a limit change. It covers
// the kind of limit, its scope, and the tools and the key of the transition that uses up the limit.
// spend is the index of this transition.
func Limit(n *toolnet.Net, spend int) string {
	t := &n.Transitions[spend]
	tools := list.Map(t.Tools, func(u toolnet.Tool) string { return hash(u) })
	slices.Sort(tools)
	of := ""
	if n.Sum != nil {
		of = hash(sumIdentity{Path: n.Sum.Field.Path, Source: n.Sum.Field.Source})
	}
	return hash(struct {
		Tools         []string
		Scope         toolnet.Scope
		Key           []fieldIdentity
		Sum           string
		AtOnce, InRow bool
	}{tools, n.Scope, fieldIdentities(n.KeyOf(t)), of, t.Deferred, n.Row})
}

// Family returns a fingerprint of a limit that does not depend on its maximum. The given place
// holds the limit's tokens; for a limit on a sum, place is empty. Because the period for refunding
// one token depends on the maximum, the fingerprint instead covers the period for refunding all
// tokens, rounded down to a named period such as an hour.
func Family(n *toolnet.Net, place string) string {
	c := n.Clone()
	number := c.Initial[place]
	delete(c.Initial, place)
	for i := range c.Transitions {
		if t := &c.Transitions[i]; t.Every > 0 {
			t.Every = text.NamedPeriod(t.Every * time.Duration(number))
		}
	}
	if c.Sum != nil {
		sum := *c.Sum
		sum.Most = 0
		c.Sum = &sum
	}
	return Net(&c)
}
