package mining

import (
	"math"
	"slices"
)

// joined stands between the names of two fields, and between their values. No name that rules can write has it.
const joined = "\x00"

// mostParts bounds the fields of which keys of two are made, for each pair of calls.
const mostParts = 4

// together is whether two fields of A are more than one: whether the value of the one comes with several
// of the other.
type together struct {
	partners [2]map[string]string
	changes  [2]int
}

func (t *together) take(a *action, one, other string) {
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
		if known || len(t.partners[i]) < mostValues {
			t.partners[i][of[0]] = of[1]
		}
	}
}

// jointly are the keys of two fields of which each alone always held, and is supported.
func (m *Miner) jointly(candidates []*candidate, tried int) (all []*candidate) {
	by := map[pair][]*candidate{}
	for _, c := range candidates {
		if c.alt < 0 && c.supported(m.least, tried) {
			by[c.pair] = append(by[c.pair], c)
		}
	}
	for p, of := range by {
		slices.SortStableFunc(of, compareKeys)
		of = of[:min(len(of), mostParts)]
		for i, c := range of {
			for _, d := range of[i+1:] {
				if c.first == d.first || c.then == d.then {
					continue
				}
				if d.first < c.first {
					c, d = d, c
				}
				all = append(all, &candidate{pair: p, alt: -1, first: c.first + joined + d.first, then: c.then + joined + d.then, parts: []*candidate{c, d}})
			}
		}
	}
	return all
}

// agree is the chance that so many values of B are among the known ones of A, were both fields any
// that the session knows, each for itself.
func (c *candidate) agree(s *session, known, made int) chance {
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

// joins reports whether the key of two fields is stricter than each of them, by more than chance.
func (c *candidate) joins(m *Miner, tried int) bool {
	return !c.out && c.sessions >= m.least && c.together.changes[0] >= m.least && c.together.changes[1] >= m.least && c.once.beats(tried)
}
