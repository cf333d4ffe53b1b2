package toolnet

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/internal/jsonpath"
)

// spoiler reports an error if a transition with Spoils is deferred, does not observe tools, or
// could miss tokens because a call in flight holds them; see [checker.unreachable].
func (c *checker) spoiler(t *Transition) {
	switch {
	case !t.Spoils:
	case !t.Observe || len(t.Tools) == 0:
		c.report(t.Name, "the transition spoils evidence but does not observe tools", "make it an observer: a call spoils evidence whether or not the net lets it pass")
	case t.Deferred:
		c.report(t.Name, "the transition spoils evidence but is deferred", "make it immediate: evidence is void as soon as the call is admitted")
	default:
		c.unreachable(t)
	}
}

// unreachable reports an error if a deferred transition takes tokens from a place that t, a
// transition with Spoils, should empty. While a call is in flight, t cannot remove the tokens that
// the call has taken. If the call then fails, they return to the place.
func (c *checker) unreachable(t *Transition) {
	taken := func(place string) bool {
		return slices.Contains(t.Inputs, place) && !slices.Contains(t.Outputs, place)
	}
	for i := range c.net.Transitions {
		if u := &c.net.Transitions[i]; u.Deferred && !u.Observe && slices.ContainsFunc(u.Inputs, taken) {
			c.report(t.Name, fmt.Sprintf("the transition spoils evidence that the deferred transition %q can have in flight", u.Name), "a failure would restore it: make "+u.Name+" immediate")
		}
	}
}

// evidence reports an error if a transition with Evidence is not a deferred observer.
func (c *checker) evidence(t *Transition) {
	if t.Evidence && !(t.Observe && t.Deferred) {
		c.report(t.Name, "the transition is evidence but not a deferred observer", "evidence is the success of a call")
	}
}

// approvals reports an error if the number of approvals is negative, or is set for a transition
// that is not manual.
func (c *checker) approvals(t *Transition) {
	switch {
	case t.Approvals < 0:
		c.report(t.Name, fmt.Sprintf("the transition needs the approval of %d people", t.Approvals), "")
	case t.Approvals > 0 && !t.Manual:
		c.report(t.Name, "the transition needs approvals but is not manual", "only a manual transition requires approval")
	}
}

// sum checks the net's sum. It reports a field that is invalid, that is not an argument, or that
// can have several values. It also reports a maximum or a refund period that is too small.
func (c *checker) sum() {
	s := c.net.Sum
	if s == nil {
		return
	}
	p, _ := ParsePath(s.Field.Path)
	switch msg := s.Field.fault(); {
	case msg != "":
		c.report("", "the sum: "+msg, "")
	case s.Field.Result:
		c.report("", "the sum reads the result, which is unknown before the call", "use an argument instead")
	case jsonpath.IsPath(s.Field.Path) && p.Many():
		c.report("", fmt.Sprintf("the sum: the path %q leads to more than one value", s.Field.Path), "")
	}
	if s.Most < 1 {
		c.report("", fmt.Sprintf("the limit of the sum is %d", s.Most), "use 1 or more")
	}
	if s.Every != 0 && s.Every < minEvery {
		c.report("", fmt.Sprintf("the sum refills every %s", s.Every), fmt.Sprintf("%s is the shortest interval", minEvery))
	}
}

// phases reports an error if the place of a phase is unknown or belongs to another phase too, or if
// a phase lists an invalid tool name.
func (c *checker) phases() {
	seen := make(map[string]bool)
	for _, ph := range c.net.Phases {
		c.place("", ph.Place)
		if seen[ph.Place] {
			c.report("", fmt.Sprintf("the place %q has two phases", ph.Place), "")
		}
		seen[ph.Place] = true
		for _, tool := range ph.Tools {
			if tool.Name == "" {
				c.report("", fmt.Sprintf("a tool of the phase %q has no name", ph.Place), "")
			}
			c.plain("", tool)
		}
	}
}
