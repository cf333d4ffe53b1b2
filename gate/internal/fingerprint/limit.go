package fingerprint

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// WithMaps combines a net's fingerprint with the maps (see [toolnet.Map]) that give calls a name
// listed by the net, and returns the resulting fingerprint.
func WithMaps(print string, maps []toolnet.Map) string {
	if len(maps) == 0 {
		return print
	}
	return hash(struct {
		Print string
		Maps  []mapIdentity
	}{print, mapIdentities(maps)})
}

// Limit returns a fingerprint of what a limit counts: the calls that fire the transition with index
// spend, and the net's scope and key.
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

// Family returns a fingerprint of a limit without its maximum, which is the initial token count of
// the given place or the maximum of the sum. If the limit has a clock, the fingerprint contains
// only the period until all calls are available again, rounded down to a named period such as an
// hour. It is rounded because it may be slightly longer than the period in the policy: the time
// until each call becomes available again is rounded up.
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
