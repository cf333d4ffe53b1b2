package gate

import (
	"cmp"
	"slices"
	"strings"
)

// mapping indexes maps by the tool that they read.
type mapping struct {
	maps   []Map
	places []place
	same   [][]int // for each map with a Reader: the patterns that give the same name in the same place
	byTool map[string][]int
	texts  map[string][]place // by tool: the fields that readers read
}

// place is the part of a call that a map reads.
type place struct {
	key  string // empty: the whole call
	path Path
	deep bool // by the path
}

// place returns the part of a call that m reads. The path of m must be valid.
func (m *Map) place() place {
	p := place{key: m.Field}
	if isPath(m.Field) {
		p.path, _ = ParsePath(m.Field)
		p.deep = true
	}
	return p
}

// isPath reports whether the field of a map is a path and not a key.
func isPath(field string) bool {
	return strings.HasPrefix(field, "$.") || strings.HasPrefix(field, "$[")
}

func newMapping(maps []Map) *mapping {
	m := &mapping{maps: slices.Clone(maps), byTool: make(map[string][]int), texts: make(map[string][]place)}
	type giver struct {
		tool, field, as string
		reader          Reader
	}
	patterns := make(map[giver][]int)
	of := func(d *Map) giver { return giver{d.Tool, d.Field, d.As, d.Reader} }
	for i := range m.maps {
		d := &m.maps[i]
		m.byTool[d.Tool] = append(m.byTool[d.Tool], i)
		m.places = append(m.places, d.place())
		if d.Reader != nil {
			patterns[of(d)] = append(patterns[of(d)], d.Pattern)
			m.reads(d.Tool, m.places[i])
		}
	}
	m.same = make([][]int, len(m.maps))
	for i := range m.maps {
		if d := &m.maps[i]; d.Reader != nil {
			m.same[i] = patterns[of(d)]
		}
	}
	return m
}

// reads records that a reader reads this field of the tool.
func (m *mapping) reads(tool string, at place) {
	same := func(p place) bool { return p.key == at.key }
	if at.key != "" && !slices.ContainsFunc(m.texts[tool], same) {
		m.texts[tool] = append(m.texts[tool], at)
	}
}

// hit is a map that matches a call.
type hit struct {
	number  int
	weak    bool
	certain bool
}

// names appends the names of the maps that match, in the order of the maps.
func (m *mapping) names(c *Call, tools, ls []label) []label {
	for _, h := range m.hits(c, tools) {
		ls = add(ls, m.label(h))
	}
	return ls
}

// doubt makes the certain readings of one field uncertain if the call has another
// field that is read, since the tool acts on both.
func (m *mapping) doubt(c *Call, fields []field, tools []label, hits []hit) {
	for i := range hits {
		h := &hits[i]
		d := &m.maps[h.number]
		sure := !h.weak || h.certain
		if d.Reader != nil && d.Field != "" && sure && m.another(c, fields, tools, d.Field) {
			h.weak, h.certain = true, false
		}
	}
}

// another reports whether a reader reads another field of the call than this one.
func (m *mapping) another(c *Call, fields []field, tools []label, key string) bool {
	for _, tool := range tools {
		for _, at := range m.texts[tool.text] {
			if at.key == key {
				continue
			}
			var f *field
			if fields, f = readOnce(fields, c.Args, at); len(f.All()) > 0 {
				return true
			}
		}
	}
	return false
}

func (m *mapping) label(h hit) label {
	return label{text: m.maps[h.number].As, from: fromMap, weak: h.weak, certain: h.certain}
}

// hits finds the maps that match. It reads each field once for a call.
func (m *mapping) hits(c *Call, tools []label) []hit {
	var room [4]field
	fields := room[:0]
	var hits []hit
	for i := range tools {
		for _, number := range m.byTool[tools[i].text] {
			var f *field
			fields, f = readOnce(fields, c.Args, m.places[number])
			if h, ok := m.hit(c, f, number); ok {
				h.weak = h.weak || tools[i].weak
				h.certain = h.certain && tools[i].certain
				hits = append(hits, h)
			}
		}
	}
	m.doubt(c, fields, tools, hits)
	if len(tools) > 1 {
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.number, b.number) })
	}
	return hits
}

// hit returns the match of one map with the texts of the field.
func (m *mapping) hit(c *Call, f *field, number int) (h hit, ok bool) {
	d := &m.maps[number]
	if d.Reader == nil {
		return hit{number: number, weak: f.Weak()}, f.match(d.Match)
	}
	h = hit{number: number, weak: true}
	for _, r := range f.read(c, d.Reader) {
		found := Perhaps
		if r != nil {
			found = r.Finds(d.Pattern)
		}
		if found == Surely {
			h.weak = f.Weak() || !r.Evidence(d.Pattern)
			h.certain = !f.Weak() && r.Only(m.same[number])
		}
		ok = ok || found != NotFound
	}
	return h, ok
}

// labels returns the physical names and those of the maps or, with first, that of
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
