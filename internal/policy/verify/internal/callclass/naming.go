package callclass

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// naming assigns the policy's labels to calls, as package gate does.
type naming struct {
	maps   []*mapping
	dotted map[string]bool // names that can be read as tool.action
	bases  map[string]bool // tools with an action that some rule names
	globs  []glob          // patterns, in the order of first use
	dots   bool            // some pattern matches actions
	used   bool            // some net reads labels
	others map[string]bool // names of known tools that contain a dot; an equal action does not count as evidence
}

// newNaming collects the names that the rules use and numbers their patterns. extra holds the names
// that assertions use. Their patterns, and those of nets with their own maps, come last, so that
// adding them does not affect any other net.
func newNaming(maps []gate.Map, nets []*Net, extra []gate.Tool, known []Tool) *naming {
	g := &naming{maps: newMappings(maps, -1), dotted: make(map[string]bool), bases: make(map[string]bool), others: make(map[string]bool)}
	for _, t := range known {
		for _, a := range t.Also {
			g.others[a.Text] = strings.Contains(a.Text, ".")
		}
	}
	for _, n := range nets {
		if n.Info.Labels == nil {
			continue
		}
		g.used = true
		for name := range n.rows {
			g.dot(name)
		}
		for _, u := range n.certain() {
			g.exemption(u)
		}
		for i := range n.globs {
			n.numbers[i] = g.number(n.globs[i])
		}
	}
	for _, t := range extra {
		switch t.Kind {
		case gate.Glob:
			g.number(toolGlob(t))
		case gate.Plain:
			g.dot(t.Name)
		}
	}
	for _, n := range nets {
		for _, p := range n.globs {
			g.number(p)
		}
	}
	return g
}

// exemption records what must be computed for each call to apply an exemption.
func (g *naming) exemption(u gate.Tool) {
	switch u.Kind {
	case gate.Plain:
		g.dot(u.Name)
	case gate.Glob:
		g.dots = g.dots || strings.Contains(u.Name, ".")
	}
}

func (g *naming) dot(name string) {
	for i := 1; i < len(name); i++ {
		if name[i] == '.' {
			g.bases[name[:i]] = true
			g.dotted[name] = true
		}
	}
}

func (g *naming) number(p glob) int {
	g.dots = g.dots || p.actions
	g.dot(p.except)
	i := slices.Index(g.globs, p)
	if i < 0 {
		i = len(g.globs)
		g.globs = append(g.globs, p)
	}
	return i
}

// A form describes those parts of a call's arguments that its names depend on.
type form struct {
	tools  []label // the physical names
	fields []value
}

// A value is the content of an argument field. An abstract value has no texts but lists its matches
// instead.
type value struct {
	field string
	weak  bool     // not a string; texts holds the leaves followed by their concatenation
	texts []string // nil for an abstract value
	hits  []hit    // the matches of an abstract value
	like  string   // for an abstract value: an action that the same name patterns match; may be empty
}

// A hit is a map that matches, with the properties of its label.
type hit struct {
	of      *mapping
	weak    bool
	certain bool
}

func (f *form) value(field string) *value {
	for i := range f.fields {
		if f.fields[i].field == field {
			return &f.fields[i]
		}
	}
	return nil
}

// hit returns the result of map m for the value. ok is false if m does not match.
func (v *value) hit(m *mapping) (h hit, ok bool) {
	switch {
	case v == nil:
		return h, false
	case v.texts == nil:
		i := slices.IndexFunc(v.hits, func(h hit) bool { return h.of == m })
		if i < 0 {
			return h, false
		}
		h = v.hits[i]
		h.weak, h.certain = h.weak || v.weak, h.certain && !v.weak
		return h, true
	case m.Reader == nil:
		return hit{of: m, weak: v.weak}, slices.ContainsFunc(v.texts, m.Match)
	}
	h = hit{of: m, weak: true}
	for _, s := range v.texts {
		r := m.read(s)
		found := r.Finds(m.Pattern)
		if found == gate.Surely && !v.weak {
			h.weak, h.certain = !r.Evidence(m.Pattern), r.Only(m.same)
		}
		ok = ok || found != gate.NotFound
	}
	return h, ok
}

// labels returns the labels that the policy gives to a call.
func (g *naming) labels(f *form) []label {
	ls := slices.Clone(f.tools)
	if !g.used && len(g.globs) == 0 && len(g.dotted) == 0 {
		return ls
	}
	for _, tool := range f.tools {
		if g.dots || g.bases[tool.text] {
			ls = g.actions(f, tool, ls)
		}
	}
	for _, l := range mapped(g.maps, f) {
		ls = add(ls, l)
	}
	return patterned(ls, g.globs)
}

func (g *naming) actions(f *form, tool label, ls []label) []label {
	v := f.value("action")
	if v == nil {
		return ls
	}
	l := label{from: fromAction, certain: tool.certain && !v.weak}
	actions := v.texts
	if v.like != "" {
		actions = []string{v.like}
	}
	for _, action := range actions {
		l.text = tool.text + "." + action
		l.weak = tool.weak || v.weak || g.others[l.text]
		if !v.weak || g.dotted[l.text] || g.addsMatch(&l, ls) {
			ls = add(ls, l)
		}
	}
	return ls
}

// addsMatch reports whether some pattern matches l but none of ls.
func (g *naming) addsMatch(l *label, ls []label) bool {
	for i := range g.globs {
		if _, ok := g.globs[i].match(ls); ok {
			continue
		}
		if _, ok := g.globs[i].match([]label{*l}); ok {
			return true
		}
	}
	return false
}

// mapped returns the names that the maps give, in the order of the maps.
func mapped(maps []*mapping, f *form) []label {
	var ls []label
	for _, m := range maps {
		for _, tool := range f.tools {
			if !m.matchesTool(tool.text) {
				continue
			}
			if h, ok := f.value(m.Field).hit(m); ok {
				if m.Reader != nil && f.otherReader(maps, m.Field) {
					h.weak, h.certain = true, false
				}
				ls = append(ls, label{text: m.As, from: fromMap, weak: h.weak || tool.weak, certain: h.certain && tool.certain})
			}
		}
	}
	return ls
}

// otherReader reports whether a reader reads a field of the call other than the given one.
func (f *form) otherReader(maps []*mapping, field string) bool {
	return field != "" && slices.ContainsFunc(maps, func(m *mapping) bool {
		return m.Reader != nil && m.Field != "" && m.Field != field && m.appliesTo(f.tools) && f.value(m.Field) != nil
	})
}

// own returns the names given by a net's own maps.
func (n *Net) own(f *form) []label {
	ls := slices.Clone(f.tools)
	hits := mapped(n.maps, f)
	if n.Info.MatchFirst && len(hits) > 0 {
		ls = hits[:1:1]
	} else {
		for _, l := range hits {
			ls = add(ls, l)
		}
	}
	return patterned(ls, n.globs)
}

// A Tool is a callable tool, with its further physical names.
type Tool struct {
	Name     string
	Also     []gate.Name
	Supposed bool // the tool might not exist
}

// Also returns the further names of each tool, by tool.
func Also(tools []Tool) map[string][]gate.Name {
	also := make(map[string][]gate.Name)
	for _, t := range tools {
		also[t.Name] = t.Also
	}
	return also
}

// eachForm calls do with every combination of one value per field.
func eachForm(base []label, options [][]*value, count int, do func(*form)) {
	for k := range count {
		f := &form{tools: base}
		for i := range options {
			if v := options[i][k%len(options[i])]; v != nil {
				f.fields = append(f.fields, *v)
			}
			k /= len(options[i])
		}
		do(f)
	}
}

// appliesTo reports whether m applies to a tool with these names.
func (m *mapping) appliesTo(tools []label) bool {
	return slices.ContainsFunc(tools, func(l label) bool { return m.matchesTool(l.text) })
}
