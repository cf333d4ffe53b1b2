// Package precedence decides which nets take effect. An advisory net has no effect in two cases. In
// the first, a net of higher priority is in recovery, which means that certain places hold enough
// tokens. In the second, the advisory net would block the last tools that the required nets and the
// higher-ranking advisory nets allow.
package precedence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// A Net holds the attributes that determine a net's rank.
type Net struct {
	Name     string
	Priority int
	Advisory bool // whether other nets can overrule the net; a net that is not advisory is required
}

// A Contest collects the tools that a policy's nets block.
type Contest struct {
	nets  []Net
	tools int
	lists []*allowlist // the tools that each net allows; nil for a net that blocks no tool

	recovery bool // whether any net is in recovery; see [Contest.Recover]
	priority int  // highest priority among the nets in recovery
}

// allowlist records which tools a net blocks, and thus which tools it allows.
type allowlist struct {
	net     int
	blocked []bool // for each tool, whether the net blocks it
	left    int    // number of tools that the net allows
}

// New returns a contest between nets over the given number of tools. No net blocks any tool yet.
func New(nets []Net, tools int) *Contest {
	return &Contest{nets: nets, tools: tools, lists: make([]*allowlist, len(nets))}
}

// Block records that the net blocks the tool. It must be called at most once per net and tool.
func (c *Contest) Block(net, tool int) {
	l := c.lists[net]
	if l == nil {
		l = &allowlist{net: net, blocked: make([]bool, c.tools), left: c.tools}
		c.lists[net] = l
	}
	l.blocked[tool] = true
	l.left--
}

// Recover records that the net is in recovery. Advisory nets of lower priority then have no effect.
func (c *Contest) Recover(net int) {
	if p := c.nets[net].Priority; !c.recovery || p > c.priority {
		c.recovery, c.priority = true, p
	}
}

// Settled is the result of [Contest.Settle].
type Settled struct {
	Yields    []bool    // for each net, whether it yields, that is, does not take effect
	Ignored   []string  // names of the advisory nets that block tools but do not take effect
	Conflict  *Conflict // nil if the nets together allow some tool
	effective []*allowlist
}

// A Conflict reports that the nets together allow no tool.
type Conflict struct {
	Winner string   // highest-ranking net in Nets that takes effect; empty if Yields is empty or contains all of Nets
	Nets   []string // the conflicting nets, by rank
	Yields []string // the nets in Nets that do not take effect; all of them are advisory
}

// Settle decides which nets take effect. All required nets take effect. The advisory nets follow in
// the order of their rank: each takes effect unless it would block all tools that remain. An
// advisory net whose priority is lower than that of a net in recovery never takes effect.
func (c *Contest) Settle() *Settled {
	s := &Settled{Yields: make([]bool, len(c.nets))}
	for i, n := range c.nets {
		s.Yields[i] = c.recovery && n.Advisory && n.Priority < c.priority // a net in recovery overrules advisory nets of lower priority
	}
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
	s.effective = slices.DeleteFunc(slices.Clone(lists), func(l *allowlist) bool { return s.Yields[l.net] })
	s.Ignored = append(s.Ignored, yield...)
	s.Conflict = c.conflict(lists, s.effective, yield, some)
	return s
}

// ordered returns the allowlists of the nets by rank. It leaves out the nets overruled by a net in
// recovery, and adds their names to s.Ignored.
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

// conflict returns the conflict between the nets with the given allowlists, or nil. allowed reports
// whether the required nets together allow some tool. A required net that blocks every tool by
// itself is not a conflict.
func (c *Contest) conflict(lists, heeded []*allowlist, yield []string, allowed bool) *Conflict {
	found := &Conflict{Yields: yield}
	switch {
	case len(yield) > 0:
		if len(heeded) > 0 {
			found.Winner = c.nets[heeded[0].net].Name
		}
	case allowed:
		return nil
	default:
		lists = slices.DeleteFunc(lists, func(l *allowlist) bool { return c.nets[l.net].Advisory })
		if len(lists) == 0 || slices.ContainsFunc(lists, func(l *allowlist) bool { return l.left == 0 }) {
			return nil
		}
	}
	found.Nets = list.Map(lists, func(l *allowlist) string { return c.nets[l.net].Name })
	return found
}

// Hides returns the net that hides the tool, that is, the highest-ranking net that takes effect and
// blocks the tool. It returns -1 if no net hides it.
func (s *Settled) Hides(tool int) int {
	for _, l := range s.effective {
		if l.blocked[tool] {
			return l.net
		}
	}
	return -1
}

// narrow sets blocked[i] for each tool i that l blocks.
func (l *allowlist) narrow(blocked []bool) {
	for i := range blocked {
		blocked[i] = blocked[i] || l.blocked[i]
	}
}

// leaves reports whether l allows a tool that is not in blocked.
func (l *allowlist) leaves(blocked []bool) bool {
	for i := range blocked {
		if !blocked[i] && !l.blocked[i] {
			return true
		}
	}
	return false
}
