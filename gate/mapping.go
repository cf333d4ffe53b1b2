package gate

import (
	"cmp"
	"slices"
)

// mapping is a list of maps, by the tool that they read.
type mapping struct {
	maps   []Map
	byTool map[string][]int
}

func newMapping(maps []Map) *mapping {
	m := &mapping{maps: slices.Clone(maps), byTool: make(map[string][]int)}
	for i := range m.maps {
		m.byTool[m.maps[i].Tool] = append(m.byTool[m.maps[i].Tool], i)
	}
	return m
}

// hit is a map that matches a call.
type hit struct {
	number int
	weak   bool
}

// names appends the names of the maps that match, in the order of the maps.
func (m *mapping) names(c *Call, tools, ls []label) []label {
	for _, h := range m.hits(c, tools) {
		ls = add(ls, m.label(h))
	}
	return ls
}

func (m *mapping) label(h hit) label {
	return label{text: m.maps[h.number].As, from: fromMap, weak: h.weak}
}

// hits finds the maps that match. Fields are read once for each call.
func (m *mapping) hits(c *Call, tools []label) []hit {
	var room [4]field
	fields := room[:0]
	var hits []hit
	for i := range tools {
		for _, number := range m.byTool[tools[i].text] {
			var f *field
			fields, f = readOnce(fields, c.Args, m.maps[number].Field)
			if f.match(m.maps[number].Match) {
				hits = append(hits, hit{number: number, weak: f.weak || tools[i].weak})
			}
		}
	}
	if len(tools) > 1 {
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.number, b.number) })
	}
	return hits
}

// labels are the physical names and those of the maps, or, with first, that of
// the first map that matches.
func (m *mapping) labels(c *Call, tools []label, first bool) []label {
	hits := m.hits(c, tools)
	if first && len(hits) > 0 {
		return []label{m.label(hits[0])}
	}
	ls := slices.Clone(tools)
	for _, h := range hits {
		ls = add(ls, m.label(h))
	}
	return ls
}
