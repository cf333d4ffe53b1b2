package mining

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// maxEithers limits the pairs of calls considered for "or" rules.
const maxEithers = 5000

// An either is a rule "A or alt before B".
type either struct {
	a, alt, b       int
	out             bool // refuted: some call of B came without an earlier A or alt
	notEach         bool
	sessions        int // number of sessions with B
	early, altEarly int // number of sessions with B and an earlier success of A (early), and number of sessions with B and an earlier success of alt (altEarly)
	once, each      chance
	without, had    int          // number of sessions without B (without), and number of those that have a success of A or alt (had)
	same            []*candidate // candidates for fields whose values are equal
}

// eithers returns the pairs of calls that may form an "or" rule. It considers the first sessions
// that have each B. In some of these sessions, each of the two calls did not come before B, but in
// all of them at least one of the two did. more is true if the limit was reached.
func (v *survey) eithers(least, tried int) (all []*either, more bool) {
	for b, t := range v.tools {
		if t.sessions < least {
			continue
		}
		first := v.alone(b, least)
		want := uint64(1)<<min(t.sessions, samples) - 1
		for i, one := range first {
			for _, other := range first[i+1:] {
				switch {
				case one.early|other.early != want:
				case !coveredByChance(t.sessions, one.earlier, other.earlier).beats(tried) && len(v.shared(one.tool, other.tool, b)) == 0:
				case len(all) == maxEithers:
					return all, true
				default:
					all = append(all, &either{a: one.tool, alt: other.tool, b: b})
				}
			}
		}
	}
	return all, false
}

// An earlyTool counts how often one tool came before another.
type earlyTool struct {
	tool, earlier int
	early         uint64
}

// alone returns the tools that came before B in some sessions, but not in all.
func (v *survey) alone(b, least int) (all []earlyTool) {
	for a, t := range v.tools {
		s := v.pairs[pair{a, b}]
		if a != b && s != nil && s.notOnce && !s.shared && t.sessions >= least && s.early != 0 {
			all = append(all, earlyTool{a, s.earlier, s.early})
		}
	}
	return all
}

// strength returns the larger of two chances: the chance that one of the two calls came first, and
// the chance that each call occurred exactly where the other was missing.
func (e *either) strength() chance {
	return max(e.once, coveredByChance(e.sessions, e.early, e.altEarly))
}

// An eitherVisitor tests "or" rules against the log.
type eitherVisitor struct{ byB map[int][]*either }

// newEitherVisitor returns a visitor with its own lists, because the visitor removes refuted rules.
func newEitherVisitor(all []*either) *eitherVisitor {
	return &eitherVisitor{groupBy(all, func(e *either) int { return e.b })}
}

func (c *eitherVisitor) admit(s *session, a *action) {
	for _, n := range a.names {
		of := c.byB[n.tool]
		if len(of) == 0 {
			continue
		}
		mine := s.tool(n.tool)
		for _, e := range of {
			e.check(s, mine)
		}
		c.byB[n.tool] = slices.DeleteFunc(of, func(e *either) bool { return e.out })
	}
}

// check tests the "or" rule for a call of B, given the session's earlier calls.
func (e *either) check(s *session, b *toolState) {
	last := max(stateOf(s.tools, e.a).lastOK, stateOf(s.tools, e.alt).lastOK)
	e.out = last == 0
	e.notEach = e.notEach || last <= b.lastMade
}

func (c *eitherVisitor) succeed(*session, *action) {}

func (c *eitherVisitor) end(s *session) {
	if s.partial || len(s.tools) == 0 {
		return
	}
	for b, of := range c.byB {
		for _, e := range of {
			e.endSession(s, stateOf(s.tools, b))
		}
	}
}

// endSession updates the statistics at the end of a session.
func (e *either) endSession(s *session, b toolState) {
	one, other := stateOf(s.tools, e.a), stateOf(s.tools, e.alt)
	ok := one.ok + other.ok
	if b.made == 0 {
		if e.without++; ok > 0 {
			e.had++
		}
		return
	}
	e.sessions++
	if one.before(&b) {
		e.early++
	}
	if other.before(&b) {
		e.altEarly++
	}
	e.once += onceByChance(ok, b.made)
	if !e.notEach {
		e.each += eachByChance(ok, b.made)
	}
}

// supported reports whether the log supports the rule. This requires that the rule held, that both
// calls were needed, and that neither chance nor calls at the beginning of sessions explain the
// result.
func (e *either) supported(m *Miner, tried int) bool {
	v := m.survey
	switch {
	case e.out || e.sessions < m.least:
		return false
	case e.about(m.least, tried) != nil:
		return true
	case !e.strength().beats(tried):
		return false
	case v.opens(e.a, m.least) || v.opens(e.alt, m.least):
		return presentByChance(e.sessions, e.had, e.without).beats(tried)
	}
	return true
}

// about returns the field whose values agree best in A and B, or nil.
func (e *either) about(least, tried int) *candidate {
	supported := list.Filter(e.same, func(c *candidate) bool { return c.supported(least, tried) })
	if len(supported) == 0 {
		return nil
	}
	return slices.MinFunc(supported, compareKeys)
}

// strongest returns the strongest pair for each B, and further pairs that share no call with a
// stronger pair.
func strongest(all []*either) (kept []*either) {
	slices.SortFunc(all, func(x, y *either) int {
		return cmp.Or(cmp.Compare(x.strength(), y.strength()), x.b-y.b, x.a-y.a, x.alt-y.alt)
	})
	for _, e := range all {
		shares := func(k *either) bool {
			return k.b == e.b && (k.a == e.a || k.alt == e.alt || k.a == e.alt || k.alt == e.a)
		}
		if !slices.ContainsFunc(kept, shares) {
			kept = append(kept, e)
		}
	}
	return kept
}

// implied reports whether the rule follows from other rules: from a chain through a call before B,
// or from two calls that each come after A or alt.
func (e *either) implied(held map[pair]bool, all []*either) bool {
	stands := func(n int) bool { // A or alt came before the call n
		return n == e.a || n == e.alt || held[pair{e.a, n}] || held[pair{e.alt, n}] ||
			slices.ContainsFunc(all, func(k *either) bool { return k.b == n && k.a == e.a && k.alt == e.alt })
	}
	for p := range held {
		if p.b == e.b && p.a != e.a && p.a != e.alt && stands(p.a) {
			return true
		}
	}
	return slices.ContainsFunc(all, func(k *either) bool { return k != e && k.b == e.b && stands(k.a) && stands(k.alt) })
}
