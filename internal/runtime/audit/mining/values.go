package mining

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// A candidate is a rule "A before B with same field", which requires a field of A to have the same
// value as a field of B.
type candidate struct {
	pair
	alt         int    // index of a tool that can replace A, or -1
	first, then string // field of A, and field of B
	parts       []*candidate
	out         bool // whether the rule is refuted, because some call to B had no earlier success of A or alt with the same value
	notEach     bool
	sessions    int
	once, each  chance // once is the chance that, by accident, A or alt succeeded with each value of B. each is the chance that, in this case, one of them succeeded again before each further call to B with the same value.
	hits, tries int    // statistics for acrossChance: the first value of B in a session is looked up in another session; tries counts these lookups, and hits counts the lookups where A or alt had succeeded with the value in the other session

	drawn, early, altEarly int       // number of distinct values in calls to B, and how many of them A and alt, respectively, had succeeded with; summed over all sessions
	fields                 fieldPair // statistics that show whether a two-field key needs both fields
}

// acrossChance returns the chance that the values agree by accident, assuming that values from the
// same session agree as often as values from different sessions.
func (c *candidate) acrossChance() chance {
	return chance(float64(c.sessions) * math.Log(float64(c.hits+1)/float64(c.tries+2)))
}

// A matchVisitor is a [visitor] that marks each [candidate] that the log refutes, and collects
// statistics about the others.
type matchVisitor struct {
	byThen map[int][]*candidate      // all candidates, keyed by the tool B
	byPair map[int][]*candidate      // candidates with two-field keys, keyed by the tool A
	joint  map[int][]string          // the two-field keys of each tool
	recent map[fieldKey]*[2]fieldUse // the last two sessions that used each field
}

// A fieldUse records that a session used a field, and the values of the field in that session.
type fieldUse struct {
	session *session
	values  map[string]*valueState
}

func newMatchVisitor(all []*candidate) *matchVisitor {
	joint := list.Filter(all, func(c *candidate) bool { return len(c.parts) > 0 })
	m := &matchVisitor{joint: map[int][]string{}, recent: map[fieldKey]*[2]fieldUse{}}
	m.byThen = groupBy(all, func(c *candidate) int { return c.b })
	m.byPair = groupBy(joint, func(c *candidate) int { return c.a })
	for _, c := range joint {
		for tool, field := range map[int]string{c.a: c.first, c.b: c.then} {
			m.joint[tool] = list.Add(m.joint[tool], field)
		}
	}
	return m
}

// fields returns the fields of a call with their values, including two-field keys.
func (m *matchVisitor) fields(tool int, a *action) []fieldValue {
	all := a.values
	for _, field := range m.joint[tool] {
		if v, ok := a.value(field); ok {
			all = append(all[:len(all):len(all)], fieldValue{field, v})
		}
	}
	return all
}

func (m *matchVisitor) admit(s *session, a *action) {
	for _, n := range a.names {
		first := s.tool(n.tool).made == 0
		for _, c := range m.byThen[n.tool] {
			if !c.out {
				m.match(s, a, c, first)
			}
		}
	}
	for _, n := range a.names { // must come after the loop above, which compares the values with those of earlier calls
		for _, f := range m.fields(n.tool, a) {
			v := s.value(fieldKey{n.tool, f.field}, f.value)
			v.made++
			v.lastMade = s.clock
		}
	}
}

// evidence returns the session's counts of calls with the given value: first of calls to A, then of
// calls to alt.
func (c *candidate) evidence(s *session, value string) (one, other valueState) {
	return stateOf(s.values[fieldKey{c.a, c.first}], value), stateOf(s.values[fieldKey{c.alt, c.first}], value)
}

// match is called for each call to B. It marks the candidate as refuted if the call lacks the
// field, or if neither A nor alt has succeeded with the same value. Otherwise, it updates the
// candidate's statistics.
func (m *matchVisitor) match(s *session, a *action, c *candidate, first bool) {
	value, ok := a.value(c.then)
	one, other := c.evidence(s, value)
	if !ok || one.ok+other.ok == 0 {
		c.out = true
		return
	}
	if mine := stateOf(s.values[fieldKey{c.b, c.then}], value); mine.made > 0 {
		c.notEach = c.notEach || max(one.lastOK, other.lastOK) <= mine.lastMade
	} else {
		c.countValue(one.ok > 0, other.ok > 0)
	}
	if !first {
		return
	}
	tried, hit := m.inOtherSession(s, fieldKey{c.a, c.first}, value)
	also, too := m.inOtherSession(s, fieldKey{c.alt, c.first}, value)
	if tried || also {
		c.tries++
	}
	if hit || too {
		c.hits++
	}
}

// countValue counts a value that occurs in a call to B for the first time in the session. The
// arguments report whether calls to A and alt succeeded with the value.
func (c *candidate) countValue(inA, inAlt bool) {
	c.drawn++
	if inA {
		c.early++
	}
	if inAlt {
		c.altEarly++
	}
}

// inOtherSession looks up a value in the last session that used the field, apart from s. The first
// result reports whether such a session is known. The second reports whether a successful call in
// it had the value.
func (m *matchVisitor) inOtherSession(s *session, key fieldKey, value string) (found, hit bool) {
	of := stateOf(m.recent, key)
	known := of[0].values
	if of[0].session == s {
		known = of[1].values
	}
	return known != nil, stateOf(known, value).ok > 0
}

func (m *matchVisitor) succeed(s *session, a *action) {
	for _, n := range a.names {
		if !n.certain {
			continue
		}
		for _, f := range m.fields(n.tool, a) {
			key := fieldKey{n.tool, f.field}
			v := s.value(key, f.value)
			v.ok++
			v.lastOK = s.clock
			m.markUsed(s, key)
		}
		for _, c := range m.byPair[n.tool] {
			c.fields.observe(a, c.parts[0].first, c.parts[1].first)
		}
	}
}

// markUsed records that s was the last session to use the field. Of the earlier sessions, it keeps
// only the latest.
func (m *matchVisitor) markUsed(s *session, key fieldKey) {
	if of := entry(m.recent, key, math.MaxInt); of[0].session != s {
		of[1], of[0] = of[0], fieldUse{s, s.values[key]}
	}
}

func (m *matchVisitor) end(s *session) {
	if s.partial {
		return
	}
	for b := range s.tools {
		for _, c := range m.byThen[b] {
			if !c.out && s.tools[b].made > 0 {
				c.endSession(s)
			}
		}
	}
}

// endSession adds an ended session to the candidate's statistics.
func (c *candidate) endSession(s *session) {
	c.sessions++
	then := s.values[fieldKey{c.b, c.then}]
	known, made := 0, 0
	values := map[string]bool{}
	for _, tool := range []int{c.a, c.alt} {
		for value, v := range s.values[fieldKey{tool, c.first}] {
			if v.ok > 0 && !values[value] {
				known++
				values[value] = true
			}
		}
	}
	for value, v := range then {
		if v.made == 0 {
			continue
		}
		made++
		values[value] = true
		if one, other := c.evidence(s, value); one.ok+other.ok > 0 {
			c.each += eachByChance(one.ok+other.ok, v.made) - onceByChance(one.ok+other.ok, v.made)
		}
	}
	if len(c.parts) == 2 {
		c.once += c.jointChance(s, known, made)
		return
	}
	for _, tool := range []int{c.a, c.alt} {
		for value := range s.values[fieldKey{tool, c.first}] {
			values[value] = true
		}
	}
	// chance that all distinct values of B occur in successful calls to A or alt if they are drawn
	// at random from all values in the session
	c.once += chance(lnChoose(known, made) - lnChoose(len(values), made))
}

// maxCandidates is the maximum number of candidates per pair of tools.
const maxCandidates = 24

// candidates returns the candidates to test: pairs of fields whose values might agree, for each
// pair of tools where A always succeeded before B was called.
func (v *survey) candidates(least int) (all []*candidate) {
	for p := range v.pairs {
		if !v.alwaysBefore(p, least) {
			continue
		}
		n := 0
		for _, then := range v.shared(p.b) {
			for _, first := range v.shared(p.a) {
				if n++; n <= maxCandidates {
					all = append(all, &candidate{pair: p, alt: -1, first: first, then: then})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(a.a-b.a, a.b-b.b, a.alt-b.alt, strings.Compare(a.first, b.first), strings.Compare(a.then, b.then))
	})
	return all
}

// compareKeys orders candidates. A candidate comes first if its values are less likely to agree by
// accident; see acrossChance. If both are equally likely, a candidate with the same field name in
// both calls comes first.
func compareKeys(a, b *candidate) int {
	plain := func(c *candidate) int {
		if c.first == c.then {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.acrossChance(), b.acrossChance()), plain(a)-plain(b))
}

// supported reports whether the log supports the equality of the values, not only the order of the
// calls.
func (c *candidate) supported(least, tried int) bool {
	if c.out || c.sessions < least || c.tries < least/2 || !c.acrossChance().beats(tried) {
		return false
	}
	return c.alt < 0 || c.early < c.drawn && c.altEarly < c.drawn && coveredByChance(c.drawn, c.early, c.altEarly).beats(tried)
}

// A fieldPair collects statistics that show whether a two-field key needs both fields. Both are
// needed if values of each field occur with several values of the other.
type fieldPair struct {
	partners [2]map[string]string
	changes  [2]int
}

func (t *fieldPair) observe(a *action, one, other string) {
	v, ok := a.value(one)
	w, also := a.value(other)
	if !ok || !also {
		return
	}
	for i, of := range [][2]string{{v, w}, {w, v}} {
		if t.partners[i] == nil {
			t.partners[i] = map[string]string{}
		}
		last, known := t.partners[i][of[0]]
		if known && last != of[1] {
			t.changes[i]++
		}
		if known || len(t.partners[i]) < maxValues {
			t.partners[i][of[0]] = of[1]
		}
	}
}

// jointChance returns the chance that, in one session, A has all pairs of values that B has, if the
// two fields vary independently.
func (c *candidate) jointChance(s *session, known, made int) chance {
	all := 1
	for _, part := range c.parts {
		n := 0
		for _, v := range s.values[fieldKey{c.a, part.first}] {
			if v.ok > 0 {
				n++
			}
		}
		all *= n
	}
	return chance(float64(made) * (math.Log(float64(known)) - math.Log(float64(all))))
}
