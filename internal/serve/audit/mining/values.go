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
	first, then string // the fields of A and of B
	out         bool   // a B came without
	notEach     bool
	sessions    int
	once, each  chance // within sessions: that a value of the session is among those before
	hits, tries int    // of the first values of B, in another session that had A
}

// across is the chance that the values agree as often as those of different sessions do.
func (c *candidate) across() chance {
	return chance(float64(c.sessions) * math.Log(float64(c.hits+1)/float64(c.tries+2)))
}

// matching is the second walk: which values agree.
type matching struct {
	byThen map[int][]*candidate    // by B
	recent map[fieldKey]*[2]recent // the sessions that used the field last
}

// recent is a session with the values of a field.
type recent struct {
	session *session
	values  map[string]*valueState
}

func newMatching(all []*candidate) *matching {
	m := &matching{byThen: map[int][]*candidate{}, recent: map[fieldKey]*[2]recent{}}
	for _, c := range all {
		m.byThen[c.b] = append(m.byThen[c.b], c)
	}
	return m
}

func (a *action) value(field string) (string, bool) {
	for _, f := range a.values {
		if f.field == field {
			return f.value, true
		}
	}
	return "", false
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
		s.tool(n.tool).made++
		for _, f := range a.values {
			if v := s.value(fieldKey{n.tool, f.field}, f.value); v != nil {
				v.made++
				v.lastMade = s.clock
			}
		}
	}
}

// match holds one call of B against what came before it.
func (m *matching) match(s *session, a *action, c *candidate, first bool) {
	value, ok := a.value(c.then)
	if !ok {
		c.out = true
		return
	}
	of := s.values[fieldKey{c.a, c.first}]
	evidence := of[value]
	if evidence == nil || evidence.ok == 0 {
		c.out = true
		return
	}
	if mine := s.values[fieldKey{c.b, c.then}][value]; mine != nil && evidence.lastOK <= mine.lastMade {
		c.notEach = true
	}
	if !first {
		return
	}
	if known := m.others(s, fieldKey{c.a, c.first}); known != nil {
		c.tries++
		if v := known[value]; v != nil && v.ok > 0 {
			c.hits++
		}
	}
}

// others are the values that another session, the last one, had in a field; nil: none had.
func (m *matching) others(s *session, key fieldKey) map[string]*valueState {
	of := m.recent[key]
	switch {
	case of == nil:
		return nil
	case of[0].session == s:
		return of[1].values
	}
	return of[0].values
}

func (m *matching) succeed(s *session, a *action) {
	for _, n := range a.names {
		for _, f := range a.values {
			if !n.certain {
				continue
			}
			key := fieldKey{n.tool, f.field}
			if v := s.value(key, f.value); v != nil {
				v.ok++
				v.lastOK = s.clock
			}
			m.used(s, key)
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
	of, then := s.values[fieldKey{c.a, c.first}], s.values[fieldKey{c.b, c.then}]
	known, made := 0, 0
	values := map[string]bool{}
	var each chance
	for value, v := range of {
		values[value] = true
		if v.ok > 0 {
			known++
		}
	}
	for value, v := range then {
		if v.made > 0 {
			made++
			values[value] = true
			if a := of[value]; a != nil && a.ok > 0 {
				each += eachByChance(a.ok, v.made) - onceByChance(a.ok, v.made)
			}
		}
	}
	// made different values are drawn out of all, and all of them are known.
	c.once += chance(lnChoose(known, made) - lnChoose(len(values), made))
	c.each += each
}

// mostPairs bounds the candidates of one pair of tools.
const mostPairs = 24

// candidates are the fields that may agree, of the pairs that always held.
func (v *survey) candidates(least int) (all []*candidate) {
	for p, s := range v.pairs {
		if s.notOnce || s.sessions < least || s.sessions < v.tools[p.b].sessions {
			continue
		}
		n := 0
		for _, then := range v.constantFields(p.b) {
			for _, first := range v.constantFields(p.a) {
				if n++; n <= mostPairs {
					all = append(all, &candidate{pair: p, first: first, then: then})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(a.a-b.a, a.b-b.b, strings.Compare(a.first, b.first), strings.Compare(a.then, b.then))
	})
	return all
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
