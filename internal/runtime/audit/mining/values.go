package mining

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// fieldKey is a field of a tool.
type fieldKey struct {
	tool  int
	field string
}

// valueState is what a session did with one value of a field.
type valueState struct {
	made, ok         int
	lastMade, lastOK int
}

// candidate is a rule about the same thing: the field of A has the value of that of B.
type candidate struct {
	pair
	alt         int    // a call that may come instead of A; none: -1
	first, then string // the fields of A and of B
	parts       []*candidate
	out         bool // a B came without
	notEach     bool
	sessions    int
	once, each  chance // within sessions: that a value of the session is among those before
	hits, tries int    // of the first values of B, in another session that had A

	drawn, early, altEarly int      // values of B, and those that A had, or the other
	together               together // of a key of two fields
}

// across is the chance that the values agree as often as those of different sessions do.
func (c *candidate) across() chance {
	return chance(float64(c.sessions) * math.Log(float64(c.hits+1)/float64(c.tries+2)))
}

// matching is a walk: which values agree.
type matching struct {
	byThen map[int][]*candidate    // by B
	byPair map[int][]*candidate    // those of two fields, by A
	joint  map[int][]string        // keys of two fields, by tool
	recent map[fieldKey]*[2]recent // the sessions that used the field last
}

// recent is a session with the values of a field.
type recent struct {
	session *session
	values  map[string]*valueState
}

func newMatching(all []*candidate) *matching {
	m := &matching{byThen: map[int][]*candidate{}, byPair: map[int][]*candidate{}, joint: map[int][]string{}, recent: map[fieldKey]*[2]recent{}}
	for _, c := range all {
		m.byThen[c.b] = append(m.byThen[c.b], c)
		if len(c.parts) == 0 {
			continue
		}
		m.byPair[c.a] = append(m.byPair[c.a], c)
		for tool, field := range map[int]string{c.a: c.first, c.b: c.then} {
			if !slices.Contains(m.joint[tool], field) {
				m.joint[tool] = append(m.joint[tool], field)
			}
		}
	}
	return m
}

// value is that of a field, or of two of them.
func (a *action) value(field string) (string, bool) {
	if one, other, two := strings.Cut(field, joined); two {
		v, ok := a.value(one)
		w, also := a.value(other)
		return v + joined + w, ok && also
	}
	for _, f := range a.values {
		if f.field == field {
			return f.value, true
		}
	}
	return "", false
}

// fields are the fields of a call with their values, and the keys of two.
func (m *matching) fields(tool int, a *action) []fieldValue {
	all := a.values
	for _, field := range m.joint[tool] {
		if v, ok := a.value(field); ok {
			all = append(all[:len(all):len(all)], fieldValue{field, v})
		}
	}
	return all
}

func (m *matching) admit(s *session, a *action) {
	for _, n := range a.names {
		first := s.tool(n.tool).made == 0
		for _, c := range m.byThen[n.tool] {
			if !c.out {
				m.match(s, a, c, first)
			}
		}
	}
	for _, n := range a.names { // once all are held against what was before
		for _, f := range m.fields(n.tool, a) {
			if v := s.value(fieldKey{n.tool, f.field}, f.value); v != nil {
				v.made++
				v.lastMade = s.clock
			}
		}
	}
}

// evidence is what the session did with a value in A, and in the call that may come instead.
func (c *candidate) evidence(s *session, value string) (one, other valueState) {
	if v := s.values[fieldKey{c.a, c.first}][value]; v != nil {
		one = *v
	}
	if c.alt >= 0 {
		if v := s.values[fieldKey{c.alt, c.first}][value]; v != nil {
			other = *v
		}
	}
	return one, other
}

// match holds one call of B against what came before it.
func (m *matching) match(s *session, a *action, c *candidate, first bool) {
	value, ok := a.value(c.then)
	one, other := c.evidence(s, value)
	if !ok || one.ok+other.ok == 0 {
		c.out = true
		return
	}
	switch mine := s.values[fieldKey{c.b, c.then}][value]; {
	case mine != nil && mine.made > 0:
		c.notEach = c.notEach || max(one.lastOK, other.lastOK) <= mine.lastMade
	default:
		c.draw(one.ok > 0, other.ok > 0)
	}
	if !first {
		return
	}
	tried, hit := m.elsewhere(s, fieldKey{c.a, c.first}, value)
	if c.alt >= 0 {
		also, too := m.elsewhere(s, fieldKey{c.alt, c.first}, value)
		tried, hit = tried || also, hit || too
	}
	if tried {
		c.tries++
	}
	if hit {
		c.hits++
	}
}

// draw counts a value that is new in B.
func (c *candidate) draw(one, other bool) {
	c.drawn++
	if one {
		c.early++
	}
	if other {
		c.altEarly++
	}
}

// elsewhere reports whether another session, the last one, had a field, and a success with this value.
func (m *matching) elsewhere(s *session, key fieldKey, value string) (had, hit bool) {
	of := m.recent[key]
	if of == nil {
		return false, false
	}
	known := of[0].values
	if of[0].session == s {
		known = of[1].values
	}
	v := known[value]
	return known != nil, v != nil && v.ok > 0
}

func (m *matching) succeed(s *session, a *action) {
	for _, n := range a.names {
		if !n.certain {
			continue
		}
		for _, f := range m.fields(n.tool, a) {
			key := fieldKey{n.tool, f.field}
			if v := s.value(key, f.value); v != nil {
				v.ok++
				v.lastOK = s.clock
			}
			m.used(s, key)
		}
		for _, c := range m.byPair[n.tool] {
			c.together.take(a, c.parts[0].first, c.parts[1].first)
		}
	}
}

// used notes that the session is the last one with a field.
func (m *matching) used(s *session, key fieldKey) {
	of := m.recent[key]
	if of == nil {
		of = &[2]recent{}
		m.recent[key] = of
	}
	if of[0].session != s {
		of[1], of[0] = of[0], recent{s, s.values[key]}
	}
}

// value is the state of a value; nil: there are too many.
func (s *session) value(key fieldKey, value string) *valueState {
	all := s.values[key]
	if all == nil {
		all = map[string]*valueState{}
		s.values[key] = all
	}
	v := all[value]
	if v == nil && len(all) < mostValues {
		v = &valueState{}
		all[value] = v
	}
	return v
}

func (m *matching) end(s *session) {
	if s.partial {
		return
	}
	for b := range s.tools {
		for _, c := range m.byThen[b] {
			if !c.out && s.tools[b].made > 0 {
				c.close(s)
			}
		}
	}
}

// close takes the account of a session: how probable it is that the values of B are all among
// those of A, were they any of the session.
func (c *candidate) close(s *session) {
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
		c.once += c.agree(s, known, made)
		return
	}
	for _, tool := range []int{c.a, c.alt} {
		for value := range s.values[fieldKey{tool, c.first}] {
			values[value] = true
		}
	}
	// made different values are drawn out of all, and all of them are known.
	c.once += chance(lnChoose(known, made) - lnChoose(len(values), made))
}

// mostPairs bounds the candidates of one pair of tools.
const mostPairs = 24

// candidates are the fields that may agree, of the pairs that always held.
func (v *survey) candidates(least int) (all []*candidate) {
	for p := range v.pairs {
		if !v.always(p, least) {
			continue
		}
		n := 0
		for _, then := range v.constantFields(p.b) {
			for _, first := range v.constantFields(p.a) {
				if n++; n <= mostPairs {
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

// shared are the fields that every call of all these tools has.
func (v *survey) shared(tools ...int) (fields []string) {
	fields = v.constantFields(tools[0])
	for _, t := range tools[1:] {
		fields = slices.DeleteFunc(fields, func(f string) bool { return v.tools[t].fields[f] != v.tools[t].calls })
	}
	return fields
}

// compareKeys sorts by what is least by chance, and by what reads best.
func compareKeys(a, b *candidate) int {
	plain := func(c *candidate) int {
		if c.first == c.then {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.across(), b.across()), plain(a)-plain(b))
}

// supported reports whether the record supports it, beside that a call came before another at all.
func (c *candidate) supported(least, tried int) bool {
	if c.out || c.sessions < least || c.tries < least/2 || !c.across().beats(tried) {
		return false
	}
	return c.alt < 0 || c.early < c.drawn && c.altEarly < c.drawn && covered(c.drawn, c.early, c.altEarly).beats(tried)
}

// constantFields are the fields that every call of the tool has.
func (v *survey) constantFields(tool int) (fields []string) {
	for f, n := range v.tools[tool].fields {
		if n == v.tools[tool].calls {
			fields = append(fields, f)
		}
	}
	slices.Sort(fields)
	return fields
}
