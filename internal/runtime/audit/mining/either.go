package mining

import (
	"cmp"
	"slices"
)

// mostEithers bounds the pairs of calls of which one always came before a third.
const mostEithers = 5000

// either is a rule of two calls, of which one has to come before B.
type either struct {
	a, alt, b       int
	out             bool // a B came without
	notEach         bool
	sessions        int // with B
	early, altEarly int // of them, those in which a success of A, or of the other, came before
	once, each      chance
	without, had    int          // other sessions, and those with a success of either
	same            []*candidate // what it may be about
}

// eithers are the pairs that may be one, by the first sessions of B: where each alone failed, and
// one of both came before in all of them. More says that there are more.
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
				case !covered(t.sessions, one.earlier, other.earlier).beats(tried) && len(v.shared(one.tool, other.tool, b)) == 0:
				case len(all) == mostEithers:
					return all, true
				default:
					all = append(all, &either{a: one.tool, alt: other.tool, b: b})
				}
			}
		}
	}
	return all, false
}

// earlyTool is a tool with how often it came before another.
type earlyTool struct {
	tool, earlier int
	early         uint64
}

// alone are the calls that came before some B, and not before all.
func (v *survey) alone(b, least int) (all []earlyTool) {
	for a, t := range v.tools {
		s := v.pairs[pair{a, b}]
		if a != b && s != nil && s.notOnce && !s.shared && t.sessions >= least && s.early != 0 {
			all = append(all, earlyTool{a, s.earlier, s.early})
		}
	}
	return all
}

// strength is how probable the rule would be by chance: that one of both came first, and that the one stood in
// exactly where the other did not come.
func (e *either) strength() chance { return max(e.once, covered(e.sessions, e.early, e.altEarly)) }

// choosing is a visitor: which of two calls came before a third.
type choosing struct{ byB map[int][]*either }

// newChoosing keeps lists of its own, from which it takes what does not hold.
func newChoosing(all []*either) *choosing {
	c := &choosing{map[int][]*either{}}
	for _, e := range all {
		c.byB[e.b] = append(c.byB[e.b], e)
	}
	return c
}

func (c *choosing) admit(s *session, a *action) {
	for _, n := range a.names {
		of := c.byB[n.tool]
		if len(of) == 0 {
			continue
		}
		mine := s.tool(n.tool)
		for _, e := range of {
			e.hold(s, mine)
		}
		c.byB[n.tool] = slices.DeleteFunc(of, func(e *either) bool { return e.out })
	}
}

// hold holds a call of B against what the session did before.
func (e *either) hold(s *session, b *toolState) {
	one, other := s.tools[e.a], s.tools[e.alt]
	last := 0
	if one != nil {
		last = one.lastOK
	}
	if other != nil {
		last = max(last, other.lastOK)
	}
	e.out = last == 0
	e.notEach = e.notEach || last <= b.lastMade
}

func (c *choosing) succeed(*session, *action) {}

func (c *choosing) end(s *session) {
	if s.partial || len(s.tools) == 0 {
		return
	}
	for b, of := range c.byB {
		for _, e := range of {
			e.close(s, s.tools[b])
		}
	}
}

// close takes the account of a session.
func (e *either) close(s *session, b *toolState) {
	one, other := s.tools[e.a], s.tools[e.alt]
	ok := 0
	for _, t := range []*toolState{one, other} {
		if t != nil {
			ok += t.ok
		}
	}
	if b == nil || b.made == 0 {
		if e.without++; ok > 0 {
			e.had++
		}
		return
	}
	e.sessions++
	if before(one, b) {
		e.early++
	}
	if before(other, b) {
		e.altEarly++
	}
	e.once += onceByChance(ok, b.made)
	if !e.notEach {
		e.each += eachByChance(ok, b.made)
	}
}

// before reports whether a success of A came before the first B.
func before(a, b *toolState) bool { return a != nil && a.firstOK > 0 && a.firstOK < b.firstMade }

// supported reports whether the record supports it: it held, each of both was needed, and neither chance nor the
// beginning of sessions explains it.
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
		return present(e.sessions, e.had, e.without).beats(tried)
	}
	return true
}

// about is the field that agrees most; nil: none does.
func (e *either) about(least, tried int) (best *candidate) {
	for _, c := range e.same {
		if c.supported(least, tried) && (best == nil || compareKeys(c, best) < 0) {
			best = c
		}
	}
	return best
}

// strongest are the pairs for each B, without those that share a call with a stronger one.
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

// implied reports whether the rule follows from the others: from a chain through a call before B, or from two
// calls each of which comes after one of these.
func (e *either) implied(held map[pair]bool, all []*either) bool {
	stands := func(n int) bool { // one of both came before it
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
