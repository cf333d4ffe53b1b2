package toolnet

import (
	"fmt"
	"math"
	"slices"

	"github.com/petrigate/petrigate/internal/jsonpath"
)

// Check returns the errors in the net in a fixed order, such as unknown places and options that
// exclude each other. If there are no such errors, Check explores the net's behavior. It reports an
// error if the structural transitions, which fire by themselves, never stop firing from the initial
// marking. Otherwise, it reports the unbounded places that it finds, unless AllowUnbounded is set.
func (n *Net) Check() ErrorList {
	c := &checker{net: n, places: make(map[string]bool, len(n.Places))}
	if n.Name == "" {
		c.report("", "the net has no name", "")
	}
	for _, place := range n.Places {
		if c.places[place] {
			c.report("", fmt.Sprintf("the place %q is named twice", place), "")
		}
		c.places[place] = true
	}
	if n.Scope > ScopeGlobal {
		c.report("", fmt.Sprintf("invalid scope %d", n.Scope), "")
	}
	c.sum()
	c.phases()
	c.initial()
	for _, place := range slices.Concat(n.Terminal, sortedKeys(n.Recovery)) {
		c.place("", place)
	}
	names := make(map[string]bool, len(n.Transitions))
	for i := range n.Transitions {
		t := &n.Transitions[i]
		if names[t.Name] {
			c.report(t.Name, "the net has two transitions with this name", "")
		}
		names[t.Name] = true
		c.transition(t)
	}
	c.keys()
	for _, name := range n.Free {
		if name == "" {
			c.report("", "a free tool has no name", "")
		}
	}
	for _, m := range n.Maps {
		if msg := m.Fault(); msg != "" {
			c.report("", msg, "")
		}
	}
	if len(c.errs) == 0 {
		c.behavior()
	}
	return c.errs
}

func (c *checker) initial() {
	for _, place := range sortedKeys(c.net.Initial) {
		c.place("", place)
		switch tokens := c.net.Initial[place]; {
		case tokens < 0:
			c.report("", fmt.Sprintf("the place %q starts with %d tokens", place, tokens), "a marking is never negative")
		case tokens > math.MaxInt32:
			c.report("", fmt.Sprintf("the place %q starts with %d tokens", place, tokens), fmt.Sprintf("use at most %d", math.MaxInt32))
		}
	}
}

func (c *checker) transition(t *Transition) {
	if t.Name == "" {
		c.report("", "a transition has no name", "")
	}
	for _, place := range slices.Concat(t.Inputs, t.Outputs) {
		c.place(t.Name, place)
	}
	if len(t.Tools) == 0 {
		c.structural(t)
	}
	c.clock(t)
	c.spoiler(t)
	c.approvals(t)
	c.evidence(t)
	if t.Observe && t.Manual {
		c.report(t.Name, "a transition that observes cannot be manual", "an observer refuses nothing, so there is nothing to approve")
	}
	for _, tool := range slices.Concat(t.Tools, t.Unless) {
		if tool.Name == "" {
			c.report(t.Name, "a tool has no name", "")
		}
		c.plain(t.Name, tool)
	}
}

// structural reports an error if a transition without tools has an option that only a transition
// with tools can have.
func (c *checker) structural(t *Transition) {
	for _, a := range []struct {
		set  bool
		name string
	}{{t.Manual, "manual"}, {t.Deferred, "deferred"}, {t.Observe, "observe"}, {len(t.Unless) > 0, "limited by unless"}} {
		if a.set {
			c.report(t.Name, "the transition is "+a.name+" and has no tools", "a transition without tools fires by itself")
		}
	}
}

// clock reports an error if a transition with Every has tools or a period that is too short.
func (c *checker) clock(t *Transition) {
	switch {
	case t.Every == 0:
	case len(t.Tools) > 0:
		c.report(t.Name, "the transition fires on a timer but has tools", "give the tools their own transition")
	case t.Every < minEvery:
		c.report(t.Name, fmt.Sprintf("the transition fires every %s", t.Every), fmt.Sprintf("%s is the shortest interval", minEvery))
	}
}

// Fault describes the error in the map statement, or returns "" if the statement is correct.
func (m *Map) Fault() string {
	switch {
	case m.Tool == "" || m.As == "" || m.Field == "" && m.Reader == nil:
		return fmt.Sprintf("the map %q.%q as %q: a name is missing", m.Tool, m.Field, m.As)
	case m.Match == nil && m.Reader == nil:
		return fmt.Sprintf("the map of %q.%q matches nothing", m.Tool, m.Field)
	case m.Match != nil && m.Reader != nil:
		return fmt.Sprintf("the map of %q.%q has both a pattern and a reader", m.Tool, m.Field)
	}
	if jsonpath.IsPath(m.Field) {
		if _, err := ParsePath(m.Field); err != nil {
			return fmt.Sprintf("the path %q: %v", m.Field, err)
		}
	}
	return ""
}
