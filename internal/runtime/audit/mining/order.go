package mining

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// findings holds the ordering rules supported by the log.
type findings struct {
	tried        int // number of rules tested against chance
	more         bool
	held         map[pair]bool
	best         map[pair]*candidate // for each pair of calls, the fields for a "with same" clause; see bestKeys
	eithers      []*either
	invalidators map[pair][]*invalidator
}

// bestKeys returns the best "with same" clause for each pair of calls: the field whose values agree
// best in both calls, or two fields if the log shows that both are needed. It leaves out a
// pair if the log supports no such clause.
func (m *Miner) bestKeys(candidates, joint []*candidate, tried int) map[pair]*candidate {
	best := map[pair]*candidate{}
	for _, c := range candidates {
		switch s := m.survey.pairs[c.pair]; {
		case c.alt >= 0 || !c.supported(m.least, tried):
		case !s.once.beats(tried) && !c.once.beats(tried):
		case best[c.pair] == nil || compareKeys(c, best[c.pair]) < 0:
			best[c.pair] = c
		}
	}
	for _, c := range joint {
		if b := best[c.pair]; b != nil && c.joins(m, tried) && (len(b.parts) == 0 || c.once < b.once) {
			best[c.pair] = c
		}
	}
	return best
}

// heldPairs returns the pairs whose order held in all sessions and is statistically significant.
func (m *Miner) heldPairs(tried int, best map[pair]*candidate) map[pair]bool {
	v, held := m.survey, map[pair]bool{}
	for p, s := range v.pairs {
		if !v.alwaysBefore(p, m.least) {
			continue
		}
		if best[p] != nil || s.once.beats(tried) && (!v.opens(p.a, m.least) || v.needed(p).beats(tried)) {
			held[p] = true
		}
	}
	return held
}

// openingNotes returns notes about calls that always come before several others. It includes only
// calls that begin most of the sessions that contain them. Such a call comes before the others
// whether they depend on it or not, so its position does not justify a rule.
func (m *Miner) openingNotes() (all []Note) {
	v := m.survey
	for a, t := range v.tools {
		n := 0
		for b := range v.tools {
			if v.alwaysBefore(pair{a, b}, m.least) {
				n++
			}
		}
		if n >= minToolsForOpening && v.opens(a, m.least) {
			all = append(all, Note{Kind: "opening", Count: t.opened, Text: fmt.Sprintf(
				"%d of %s with %s begin with it, so calls that come after it do not necessarily depend on it", t.opened, text.Count(t.sessions, "session"), text.Escape(m.names[a]))})
		}
	}
	return all
}

// sequences returns the proposals for ordering rules, except those that follow from others.
func (m *Miner) sequences(f *findings) (all []Proposal) {
	for p := range f.held {
		if !chained(f.held, f.best, p) {
			all = append(all, m.sequence(f, p))
		}
	}
	for _, e := range f.eithers {
		if !e.implied(f.held, f.eithers) {
			all = append(all, m.alternative(e, f.tried))
		}
	}
	return all
}

// chained reports whether the rule p, "A before C", follows from the rules "A before B" and "B
// before C". If p compares a field of A with a field of C, the other two rules must compare these
// fields with the same field of B.
func chained(held map[pair]bool, best map[pair]*candidate, p pair) bool {
	for q := range held {
		if q.a != p.a || q.b == p.b || !held[pair{q.b, p.b}] {
			continue
		}
		whole, one, two := best[p], best[q], best[pair{q.b, p.b}]
		if whole == nil || one != nil && two != nil && one.first == whole.first && one.then == two.first && two.then == whole.then {
			return true
		}
	}
	return false
}

// sequence returns the proposal for p, a pair whose order held in all sessions.
func (m *Miner) sequence(f *findings, p pair) Proposal {
	v, c := m.survey, f.best[p]
	s, b := v.pairs[p], v.tools[p.b]
	first, then := m.names[p.a], m.names[p.b]
	out := m.proposal("order", p.b)
	how, each := s.once, !s.notEach && (s.each-s.once).beats(f.tried)
	if c != nil {
		out.Kind, how, each = "value", min(s.once, c.acrossChance()), !c.notEach && c.each.beats(f.tried)
	}
	clause, whole := c.clause(each, text.Escape(first)+" call")
	out.Rule = fmt.Sprintf("require %s before %s%s", rules.Written(first), rules.Written(then), clause)
	out.Evidence = fmt.Sprintf("%s came after a successful %s in %d of %d sessions (%s)%s", text.Escape(then), text.Escape(first), b.sessions, b.sessions, text.Count(b.calls, "call"), whole)
	out.claims = []string{fmt.Sprintf("prove never %s before %s%s", rules.Written(then), rules.Written(first), clause)}
	out.Chance = how.probability()
	if of := f.invalidators[p]; c == nil && each && len(of) > 0 {
		return m.withSince(out, of, first)
	}
	return out
}

// withSince returns p with a "since" clause that names the call C of each invalidator. Whenever C
// has been called, the call that p requires must succeed again.
func (m *Miner) withSince(p Proposal, of []*invalidator, first string) Proposal {
	out := p
	out.looser = []Proposal{p}
	var names, said []string
	for _, s := range of {
		names = append(names, rules.Written(m.names[s.c]))
		said = append(said, fmt.Sprintf("%s %s in %s", text.Escape(m.names[s.c]), times(s.calls), text.Count(s.sessions, "session")))
	}
	out.Rule += " since " + strings.Join(names, ", ")
	out.Evidence += fmt.Sprintf("; %s was called again after %s", text.Escape(first), text.And(said))
	out.claims = nil // "prove" statements cannot express a "since" clause
	return out
}

// alternative returns the proposal for "A or alt before B".
func (m *Miner) alternative(e *either, tried int) Proposal {
	b := m.survey.tools[e.b]
	one, other, then := m.names[e.a], m.names[e.alt], m.names[e.b]
	early, otherEarly := e.early, e.altEarly
	if other < one {
		one, other, early, otherEarly = other, one, otherEarly, early
	}
	out := m.proposal("order", e.b)
	how, each := e.strength(), !e.notEach && (e.each-e.once).beats(tried)
	c := e.bestCandidate(m.least, tried)
	if c != nil {
		out.Kind, how, each = "value", min(how, c.acrossChance()), !c.notEach && c.each.beats(tried)
	}
	clause, whole := c.clause(each, "of these calls")
	out.Rule = fmt.Sprintf("require %s or %s before %s%s", rules.Written(one), rules.Written(other), rules.Written(then), clause)
	out.Evidence = fmt.Sprintf("%s came after a successful %s or %s in %d of %d sessions (%s; after %s in %s, after %s in %d)%s",
		text.Escape(then), text.Escape(one), text.Escape(other), b.sessions, b.sessions, text.Count(b.calls, "call"), text.Escape(one), text.Count(early, "session"), text.Escape(other), otherEarly, whole)
	for _, first := range []string{one, other} { // if the policy already requires one of the two calls before B, the proposal is unnecessary
		out.claims = append(out.claims, fmt.Sprintf("prove never %s before %s%s", rules.Written(then), rules.Written(first), clause))
	}
	out.Chance = how.probability()
	return out
}

// clause returns the part of a rule after the names of the calls, such as " once" or " with same
// id". It also returns an explanation of this part for the proposal's description. c is nil if the
// rule has no "with same" clause.
func (c *candidate) clause(each bool, call string) (clause, said string) {
	if !each {
		clause = " once"
	}
	switch {
	case c == nil && each:
		return clause, ", each after one " + call + " of its own"
	case c == nil:
		return clause, ""
	case each:
		return clause + c.key(), fmt.Sprintf(", each after one %s of its own, with the %s of that", call, c.fieldNames())
	}
	return clause + c.key(), fmt.Sprintf(", each with the %s of one %s", c.fieldNames(), call)
}

// key returns the rule's "with same" clause.
func (c *candidate) key() string {
	first, then := strings.Split(c.first, joined), strings.Split(c.then, joined)
	var all []string
	for i, f := range first {
		if then[i] != f {
			f += " as " + then[i]
		}
		all = append(all, f)
	}
	return " with same " + strings.Join(all, ", ")
}

// fieldNames returns the names of B's fields, for display.
func (c *candidate) fieldNames() string { return text.And(strings.Split(c.then, joined)) }

// joins reports whether enough sessions and values show that the candidate's two-field key is
// significantly stricter than a key with either field alone.
func (c *candidate) joins(m *Miner, tried int) bool {
	return !c.out && c.sessions >= m.least && c.fields.changes[0] >= m.least && c.fields.changes[1] >= m.least && c.once.beats(tried)
}
