// Package precedence decides which nets are heeded where they contradict each other: each
// net lets some tools pass and not others, and advisory nets yield rather than leave none.
package precedence

import (
	"cmp"
	"slices"
	"strings"
)

// A Net is what ranks a net.
type Net struct {
	Name     string
	Priority int
	Advisory bool // it can yield; all others are required
}

// A Contest has what the nets of a policy block.
type Contest struct {
	nets  []Net
	tools int
	lists []*allowlist // by net; nil: it narrows nothing

	recovery bool // some net is in recovery
	priority int  // the highest of those that are
}

// allowlist has the tools that one net allows, stored as those that it blocks.
type allowlist struct {
	net     int
	blocked []bool // by tool
	left    int    // the number of tools that it allows
}

// New returns the contest of nets, none of which blocks any of so many tools yet.
func New(nets []Net, tools int) *Contest {
	return &Contest{nets: nets, tools: tools, lists: make([]*allowlist, len(nets))}
}

// Block says, once, that the net blocks the tool.
func (c *Contest) Block(net, tool int) {
	l := c.lists[net]
	if l == nil {
		l = &allowlist{net: net, blocked: make([]bool, c.tools), left: c.tools}
		c.lists[net] = l
	}
	l.blocked[tool] = true
	l.left--
}

// Recover says that the net is in recovery: advisory nets of a lower priority yield.
func (c *Contest) Recover(net int) {
	if p := c.nets[net].Priority; !c.recovery || p > c.priority {
		c.recovery, c.priority = true, p
	}
}

// Settled says which nets are heeded.
type Settled struct {
	Yields   []bool    // by net
	Ignored  []string  // nets that block tools and yield
	Conflict *Conflict // nil: the nets agree
	heeded   []*allowlist
}

// A Conflict is that no tool passes all nets.
type Conflict struct {
	Winner string   // the most important net that does not yield; empty if none yields
	Nets   []string // those in conflict, the most important first
	Yields []string // the advisory ones among them that yield
}

// Settle heeds all required nets, and then, by priority, each advisory one that no
// recovery overrules and that leaves a tool which the nets before it allow.
func (c *Contest) Settle() *Settled {
	s := &Settled{Yields: c.overruled()}
	lists := c.ordered(s)
	blocked := make([]bool, c.tools)
	for _, l := range lists {
		if !c.nets[l.net].Advisory {
			l.narrow(blocked)
		}
	}
	some := slices.Contains(blocked, false)
	var yield []string
	for _, l := range lists {
		switch {
		case !c.nets[l.net].Advisory:
		case some && !l.leaves(blocked):
			s.Yields[l.net] = true
			yield = append(yield, c.nets[l.net].Name)
		default:
			l.narrow(blocked)
		}
	}
	for _, l := range lists {
		if !s.Yields[l.net] {
			s.heeded = append(s.heeded, l)
		}
	}
	s.Ignored = append(s.Ignored, yield...)
	s.Conflict = c.conflict(lists, s.heeded, yield, some)
	return s
}

// overruled returns which nets yield to one in recovery.
func (c *Contest) overruled() []bool {
	yields := make([]bool, len(c.nets))
	for i := range c.nets {
		yields[i] = c.recovery && c.nets[i].Advisory && c.nets[i].Priority < c.priority
	}
	return yields
}

// ordered returns the lists of the nets that no recovery overrules, the most important
// first, and records the others as ignored.
func (c *Contest) ordered(s *Settled) []*allowlist {
	var lists []*allowlist
	for i, l := range c.lists {
		switch {
		case l == nil:
		case s.Yields[i]:
			s.Ignored = append(s.Ignored, c.nets[i].Name)
		default:
			lists = append(lists, l)
		}
	}
	slices.SortFunc(lists, func(a, b *allowlist) int {
		m, n := &c.nets[a.net], &c.nets[b.net]
		return cmp.Or(cmp.Compare(n.Priority, m.Priority), cmp.Compare(a.left, b.left), strings.Compare(m.Name, n.Name))
	})
	return lists
}

// conflict returns the conflict of the lists, or nil; some says that the required ones
// leave a tool. A required net that blocks every tool is not a conflict: it agrees with
// all others.
func (c *Contest) conflict(lists, heeded []*allowlist, yield []string, some bool) *Conflict {
	found := &Conflict{Yields: yield}
	switch {
	case len(yield) > 0:
		if len(heeded) > 0 {
			found.Winner = c.nets[heeded[0].net].Name
		}
	case some:
		return nil
	default:
		lists = slices.DeleteFunc(lists, func(l *allowlist) bool { return c.nets[l.net].Advisory })
		if len(lists) == 0 || slices.ContainsFunc(lists, func(l *allowlist) bool { return l.left == 0 }) {
			return nil
		}
	}
	for _, l := range lists {
		found.Nets = append(found.Nets, c.nets[l.net].Name)
	}
	return found
}

// Hides returns the most important net that is heeded and blocks the tool, or -1.
func (s *Settled) Hides(tool int) int {
	for _, l := range s.heeded {
		if l.blocked[tool] {
			return l.net
		}
	}
	return -1
}

// narrow adds what the net blocks.
func (l *allowlist) narrow(blocked []bool) {
	for i := range blocked {
		blocked[i] = blocked[i] || l.blocked[i]
	}
}

// leaves reports whether the net lets a tool pass that is not blocked.
func (l *allowlist) leaves(blocked []bool) bool {
	for i := range blocked {
		if !blocked[i] && !l.blocked[i] {
			return true
		}
	}
	return false
}
