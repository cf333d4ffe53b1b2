package mining

import (
	"math"
	"slices"
)

// joined separates the names of two fields, and their values. Names in rules cannot contain it.
const joined = "\x00"

// maxParts limits the fields that are combined into keys of two fields, per pair of calls.
const maxParts = 4

// A together checks that two fields of A are not redundant: that a value of one field occurs with
// several values of the other.
type together struct {
	partners [2]map[string]string
	changes  [2]int
}

func (t *together) observe(a *action, one, other string) {
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

// jointCandidates returns keys of two fields if each field alone always held and is supported.
func (m *Miner) jointCandidates(candidates []*candidate, tried int) (all []*candidate) {
	by := map[pair][]*candidate{}
	for _, c := range candidates {
		if c.alt < 0 && c.supported(m.least, tried) {
			by[c.pair] = append(by[c.pair], c)
		}
	}
	for p, of := range by {
		slices.SortStableFunc(of, compareKeys)
		of = of[:min(len(of), maxParts)]
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

// jointChance is the chance that the values of B are all among the known value pairs of A, if both
// fields varied independently over the values of the session.
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

// joins reports whether the key of two fields is significantly stricter than each field alone.
func (c *candidate) joins(m *Miner, tried int) bool {
	return !c.out && c.sessions >= m.least && c.together.changes[0] >= m.least && c.together.changes[1] >= m.least && c.once.beats(tried)
}
