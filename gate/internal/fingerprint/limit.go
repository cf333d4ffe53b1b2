package fingerprint

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// Fed returns the fingerprint of a net that has print by itself, and that these maps feed.
func Fed(print string, maps []toolnet.Map) string {
	if len(maps) == 0 {
		return print
	}
	return hash(struct {
		Print string
		Maps  []mapIdentity
	}{print, mapIdentities(maps)})
}

// Limit returns the fingerprint of what a limit counts, and for whom: the calls of its
// transition with that number, in its scope.
func Limit(n *toolnet.Net, spend int) string {
	t := &n.Transitions[spend]
	var tools []string
	for _, u := range t.Tools {
		tools = append(tools, hash(u))
	}
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

// Family returns the fingerprint of a limit without its number, which is in the tokens of
// the place, or in its sum. Its clock is known by the span in which all comes back.
func Family(n *toolnet.Net, place string) string {
	c := n.Clone()
	number := c.Initial[place]
	delete(c.Initial, place)
	for i := range c.Transitions {
		if t := &c.Transitions[i]; t.Every > 0 {
			t.Every = span(t.Every * time.Duration(number))
		}
	}
	if c.Sum != nil {
		sum := *c.Sum
		sum.Most = 0
		c.Sum = &sum
	}
	return Net(&c)
}

// span returns a usual span of time. Where each of many calls comes back after a time that
// is rounded up, all do after a time that is a little longer.
func span(all time.Duration) time.Duration {
	for _, usual := range []time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if all >= usual {
			return usual
		}
	}
	return time.Second
}
