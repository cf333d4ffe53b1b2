package mining

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// maxEithers is the maximum number of pairs of calls to consider for "or" rules.
const maxEithers = 5000

// An either is a rule "A or alt before B": before B is called, A or the alternative tool alt must
// have succeeded.
type either struct {
	a, alt, b       int
	out             bool // whether B was called without an earlier success of A or alt, which refutes the rule
	notEach         bool
	sessions        int // number of sessions with B
	early, altEarly int // number of sessions where A succeeded before B, and number where alt did
	once, each      chance
	without, had    int          // number of sessions without B, and number of these where A or alt succeeded
	same            []*candidate // candidates for rules that also require the same value of a field
}

// eithers returns the rules to test. Each requires a success of A or alt before a call to B.
// eithers leaves out rules that one of the first sessions with B refutes (see samples). It also
// leaves out rules that could hold by chance (see coveredByChance), unless all calls to the three
// tools have a field in common. In that case, the log might still support the rule with the same
// value of that field. more reports whether rules are missing because there are more than
// maxEithers.
func (v *survey) eithers(least, tried int) (all []*either, more bool) {
	for b, t := range v.tools {
		if t.sessions < least {
			continue
		}
		first := v.earlyTools(b, least)
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

// An earlyTool counts the sessions where a tool succeeded before B was called.
type earlyTool struct {
	tool, earlier int
	early         uint64
}

// earlyTools returns the tools to try as A or alt in a rule about tool B. Each was called in at
// least the given number of sessions. It succeeded before B in some of the first sessions with B
// (see samples), but not in all sessions with B. A tool is left out if any call has both the tool's
// name and the name B.
func (v *survey) earlyTools(b, least int) (all []earlyTool) {
	for a, t := range v.tools {
		s := v.pairs[pair{a, b}]
		if a != b && s != nil && !v.alwaysBefore(pair{a, b}, 1) && !s.shared && t.sessions >= least && s.early != 0 {
			all = append(all, earlyTool{a, s.earlier, s.early})
		}
	}
	return all
}

// strength returns the chance that the rule held only by accident. It is the larger of two chances:
// that calls in random order obey the rule, and that every session with B has A or alt if these two
// are independent.
func (e *either) strength() chance {
	return max(e.once, coveredByChance(e.sessions, e.early, e.altEarly))
}

// An eitherVisitor is a [visitor] that drops each "or" rule that the log refutes, and collects
// statistics about the others.
type eitherVisitor struct{ byB map[int][]*either }

// newEitherVisitor returns a visitor for the given rules. The visitor marks refuted rules, but does
// not remove them from the argument.
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

// check is called for each call to B. It marks the rule as refuted if neither A nor alt has
// succeeded earlier in the session.
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

// endSession adds an ended session to the rule's statistics.
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

// supported reports whether the log supports the rule, possibly only with the same value of a
// field. The rule must have held without exception in enough sessions, and not just by chance. If
// most sessions begin with A or alt anyway, sessions with B must have these calls more often than
// other sessions.
func (e *either) supported(m *Miner, tried int) bool {
	v := m.survey
	switch {
	case e.out || e.sessions < m.least:
		return false
	case e.bestCandidate(m.least, tried) != nil:
		return true
	case !e.strength().beats(tried):
		return false
	case v.opens(e.a, m.least) || v.opens(e.alt, m.least):
		return presentByChance(e.sessions, e.had, e.without).beats(tried)
	}
	return true
}

// bestCandidate returns the best field for a "with same" clause of the rule: the one whose values
// agree best between B and the calls to A or alt. It returns nil if the log supports no such
// clause.
func (e *either) bestCandidate(least, tried int) *candidate {
	supported := list.Filter(e.same, func(c *candidate) bool { return c.supported(least, tried) })
	if len(supported) == 0 {
		return nil
	}
	return slices.MinFunc(supported, compareKeys)
}

// strongest returns the strongest rules for each B. It leaves out a rule if the result contains a
// stronger one that has the same B and contains A or alt.
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

// implied reports whether the rule follows from others. For example, "A or alt before B" follows
// from "A before C" and "C before B".
func (e *either) implied(held map[pair]bool, all []*either) bool {
	stands := func(n int) bool {
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
