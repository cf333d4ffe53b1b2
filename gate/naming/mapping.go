package naming

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// A Mapping indexes [toolnet.Map] values by the tools that they apply to.
type Mapping struct {
	maps   []toolnet.Map
	places []place
	same   [][]int // for each map with a Reader, the patterns of all maps with the same tool, field, name and Reader; the name is certain if these patterns cover the whole string; nil for a map without a Reader
	byTool map[subject][]int
	texts  map[subject][]place // for each tool, the argument fields that a map's Reader parses
	globs  []string            // the patterns that maps use to match tools, without duplicates
}

// subject is the tool that a map applies to, or a pattern that matches such tools.
type subject struct {
	tool string
	glob bool
}

// NewMapping indexes the given [toolnet.Map] values, which must be free of errors.
func NewMapping(maps []toolnet.Map) *Mapping {
	m := &Mapping{maps: slices.Clone(maps), byTool: make(map[subject][]int), texts: make(map[subject][]place)}
	type giver struct {
		subject
		field, as string
		reader    toolnet.Reader
	}
	patterns := make(map[giver][]int)
	of := func(d *toolnet.Map) giver { return giver{subjectOf(d), d.Field, d.As, d.Reader} }
	for i := range m.maps {
		d := &m.maps[i]
		tool := subjectOf(d)
		m.byTool[tool] = append(m.byTool[tool], i)
		if d.Glob && !slices.Contains(m.globs, d.Tool) {
			m.globs = append(m.globs, d.Tool)
		}
		m.places = append(m.places, placeOf(d))
		if d.Reader != nil {
			patterns[of(d)] = append(patterns[of(d)], d.Pattern)
			m.addField(tool, m.places[i])
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

// subjectOf returns the tool or pattern that the [toolnet.Map] applies to.
func subjectOf(m *toolnet.Map) subject { return subject{m.Tool, m.Glob} }

// addField records that a map's Reader parses the given part of calls to a tool, unless that part
// is the whole call.
func (m *Mapping) addField(of subject, at place) {
	same := func(p place) bool { return p.key == at.key }
	if at.key != "" && !slices.ContainsFunc(m.texts[of], same) {
		m.texts[of] = append(m.texts[of], at)
	}
}

// mapsOf returns the indexes of the maps (see [toolnet.Map]) that apply to a tool, in ascending
// order.
func (m *Mapping) mapsOf(tool string) []int {
	numbers := m.byTool[subject{tool: tool}]
	for _, p := range m.globs {
		if toolnet.MatchGlob(p, tool) {
			numbers = append(slices.Clip(numbers), m.byTool[subject{p, true}]...)
			slices.Sort(numbers)
		}
	}
	return numbers
}

// fields returns the fields that the maps' readers parse in calls to the tool.
func (m *Mapping) fields(tool string) []place {
	places := m.texts[subject{tool: tool}]
	for _, p := range m.globs {
		if toolnet.MatchGlob(p, tool) {
			places = append(slices.Clip(places), m.texts[subject{p, true}]...)
		}
	}
	return places
}

// Has reports whether any map (see [toolnet.Map]) applies to the tool.
func (m *Mapping) Has(tool string) bool { return len(m.mapsOf(tool)) > 0 }

// Tools returns the tools and patterns that the maps (see [toolnet.Map]) apply to, and reports
// whether there are any patterns. m may be nil.
func (m *Mapping) Tools() (tools []string, patterns bool) {
	if m == nil {
		return nil, false
	}
	for t := range m.byTool {
		tools = append(tools, t.tool)
	}
	return tools, len(m.globs) > 0
}

// match is a [toolnet.Map] that matches a call.
type match struct {
	number  int
	weak    bool
	certain bool
	near    bool // whether the map statement is certain to match, but the call's success does not count toward a requirement for the name
}

// names appends the names that maps (see [toolnet.Map]) give to the call, in the order of the maps.
func (m *Mapping) names(c *toolnet.Call, tools, ls []Label) []Label {
	for _, h := range m.matches(c, tools) {
		ls = Add(ls, m.label(h))
	}
	return ls
}

// weakenIfSeveralFields makes a Reader's match in a field uncertain if the call has another field
// that a map's Reader parses, because the tool then acts on both fields.
func (m *Mapping) weakenIfSeveralFields(c *toolnet.Call, fields []field, tools []Label, hits []match) {
	for i := range hits {
		h := &hits[i]
		d := &m.maps[h.number]
		sure := !h.weak || h.certain
		if d.Reader != nil && d.Field != "" && sure && m.readsOtherField(c, fields, tools, d.Field) {
			h.weak, h.certain = true, false
		}
	}
}

// readsOtherField reports whether a map statement's Reader parses a field of the call whose key
// differs from the given one.
func (m *Mapping) readsOtherField(c *toolnet.Call, fields []field, tools []Label, key string) bool {
	for _, tool := range tools {
		for _, at := range m.fields(tool.Text) {
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

func (m *Mapping) label(h match) Label {
	return Label{Text: m.maps[h.number].As, From: FromMap, Weak: h.weak, Certain: h.certain, Near: h.near}
}

// matches returns the maps (see [toolnet.Map]) that match the call. It reads each field of a call
// only once.
func (m *Mapping) matches(c *toolnet.Call, tools []Label) []match {
	var room [4]field
	fields := room[:0]
	var hits []match
	for i := range tools {
		for _, number := range m.mapsOf(tools[i].Text) {
			var f *field
			fields, f = readOnce(fields, c.Args, m.places[number])
			if h, ok := m.matchMap(c, f, number); ok {
				h.weak = h.weak || tools[i].Weak
				h.certain = h.certain && tools[i].Certain
				hits = append(hits, h)
			}
		}
	}
	m.weakenIfSeveralFields(c, fields, tools, hits)
	if len(tools) > 1 {
		slices.SortStableFunc(hits, func(a, b match) int { return cmp.Compare(a.number, b.number) })
	}
	return hits
}

// matchMap matches a single [toolnet.Map] against the strings in a field.
func (m *Mapping) matchMap(c *toolnet.Call, f *field, number int) (h match, ok bool) {
	d := &m.maps[number]
	if d.Reader == nil {
		return match{number: number, weak: f.Weak()}, f.match(d.Match)
	}
	h = match{number: number, weak: true}
	for _, r := range f.read(c, d.Reader) {
		found := toolnet.Perhaps
		if r != nil {
			found = r.Finds(d.Pattern)
		}
		if found == toolnet.Surely {
			h.weak = f.Weak() || !r.Evidence(d.Pattern)
			h.certain = !f.Weak() && r.Only(m.same[number])
			h.near = h.weak && !f.Weak()
		}
		ok = ok || found != toolnet.NotFound
	}
	return h, ok
}

// gives implements [Naming.Why] and [Own.Why]. m may be nil.
func (m *Mapping) gives(c *toolnet.Call, tools []Label, name string) (d toolnet.Doubt, found toolnet.Found) {
	if m == nil {
		return d, toolnet.NotFound
	}
	var fields []field
	var part toolnet.Doubt
	for i := range tools {
		for _, number := range m.mapsOf(tools[i].Text) {
			of := &m.maps[number]
			if of.As != name || of.Reader == nil {
				continue
			}
			var f *field
			fields, f = readOnce(fields, c.Args, m.places[number])
			for _, r := range f.read(c, of.Reader) {
				if r == nil {
					continue
				}
				switch is := r.Finds(of.Pattern); {
				case is == toolnet.Surely && r.Evidence(of.Pattern):
					return toolnet.Doubt{}, toolnet.Surely
				case is == toolnet.Surely && found != toolnet.Surely:
					d, found = r.Doubt(of.Pattern), toolnet.Surely
				case is == toolnet.Perhaps && found == toolnet.NotFound:
					d, found = r.Doubt(of.Pattern), toolnet.Perhaps
				case is == toolnet.NotFound && part.What == "":
					part = r.Doubt(of.Pattern)
				}
			}
		}
	}
	if found == toolnet.NotFound {
		return part, found
	}
	return d, found
}

// labels returns the call's physical names and the names that maps give to the call; see
// [toolnet.Call] and [toolnet.Map]. If first is true and any map matches, it returns only the name
// given by the first matching map.
func (m *Mapping) labels(c *toolnet.Call, tools []Label, first bool) []Label {
	hits := m.matches(c, tools)
	if first && len(hits) > 0 {
		return []Label{m.label(hits[0])}
	}
	ls := slices.Clone(tools)
	for _, h := range hits {
		ls = Add(ls, m.label(h))
	}
	return ls
}

// canGive reports whether a map for the tool (see [toolnet.Map]) can give a name that u matches. If
// certain is true, only names that are certain count. m may be nil.
func (m *Mapping) canGive(tool string, u *toolnet.Tool, certain bool) bool {
	return m != nil && slices.ContainsFunc(m.mapsOf(tool), func(number int) bool {
		d := &m.maps[number]
		return (d.Reader != nil || !certain) && Matches(u, &Label{Text: d.As, From: FromMap})
	})
}
