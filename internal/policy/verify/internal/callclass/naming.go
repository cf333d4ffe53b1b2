package callclass

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
)

// policyNaming assigns the policy's labels to calls, as package gate does.
type policyNaming struct {
	naming.Naming
	maps   []*mapping
	others map[string]bool // maps each alias of a known tool to whether the alias contains a dot; if such an alias is also the name of an action, the success of this action does not count toward requirements
}

// newNaming collects the names used in rules and assertions, and numbers the patterns. extra
// contains the names in assertions, and known contains the tools that are known to exist. Patterns
// in assertions get the last numbers, and so do patterns in nets that do not use the policy's
// labels. All other numbers therefore do not depend on these patterns.
func newNaming(maps []gate.Map, nets []*Net, extra []gate.Tool, known []Tool) *policyNaming {
	g := &policyNaming{Naming: *naming.New(nil), maps: newMappings(maps, -1), others: make(map[string]bool)}
	for _, t := range known {
		for _, a := range t.Also {
			g.others[a.Text] = strings.Contains(a.Text, ".")
		}
	}
	for _, n := range nets {
		if n.Info.Labels == nil {
			continue
		}
		n.listing.Register(&g.Naming)
		for _, phase := range n.Info.Phases {
			g.Exempt(phase.Tools)
		}
	}
	for _, t := range extra {
		switch t.Kind {
		case gate.Glob:
			p := naming.NewPattern(t)
			g.Number(&p)
		case gate.Plain:
			g.Name(t.Name)
		}
	}
	for _, n := range nets {
		for _, p := range n.listing.Patterns() {
			g.Number(&p)
		}
	}
	return g
}

// A form determines the names of a call. It consists of the tool and the contents of the argument
// fields.
type form struct {
	tools  []naming.Label // the names that the tool has without maps
	fields []value
}

// A value is the content of an argument field. If the value is abstract, the content itself is
// unknown. Only the map statements that match it are known.
type value struct {
	field string
	weak  bool     // whether the content is something other than a string, such as a list
	texts []string // strings to match against map statements: the string itself or, for other content, its scalars; if there are several scalars, a string that joins them with spaces follows; nil for an abstract value
	hits  []hit    // the map statements that match the value; always set for an abstract value
	like  string   // if not empty, the value stands for an unknown action that matches the same name patterns as this action
}

// A hit records that a map statement matches a value and therefore gives the call a label. weak is
// set if the call's success does not count toward requirements that name the label. certain is set
// if the call is certain to have the label.
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

// hit returns the result of matching map m against the value. ok is false if m does not match.
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
func (g *policyNaming) labels(f *form) []naming.Label {
	ls := slices.Clone(f.tools)
	for _, tool := range f.tools {
		if g.HasActions(tool.Text) {
			ls = g.actions(f, tool, ls)
		}
	}
	for _, l := range mappedNames(g.maps, f) {
		ls = naming.Add(ls, l)
	}
	return naming.WithPatterns(ls, g.Patterns())
}

func (g *policyNaming) actions(f *form, tool naming.Label, ls []naming.Label) []naming.Label {
	v := f.value("action")
	if v == nil {
		return ls
	}
	l := naming.Label{From: naming.FromAction, Certain: tool.Certain && !v.weak}
	actions := v.texts
	if v.like != "" {
		actions = []string{v.like}
	}
	for _, action := range actions {
		l.Text = tool.Text + "." + action
		l.Weak = tool.Weak || v.weak || g.others[l.Text]
		if !v.weak || g.Dotted()[l.Text] || g.Needs(&l, ls) {
			ls = naming.Add(ls, l)
		}
	}
	return ls
}

// mappedNames returns the names that the maps give to a call, in the same order as the maps.
func mappedNames(maps []*mapping, f *form) []naming.Label {
	var ls []naming.Label
	for _, m := range maps {
		for _, tool := range f.tools {
			if !m.matchesTool(tool.Text) {
				continue
			}
			if h, ok := f.value(m.Field).hit(m); ok {
				if m.Reader != nil && f.otherReader(maps, m.Field) {
					h.weak, h.certain = true, false
				}
				ls = append(ls, naming.Label{Text: m.As, From: naming.FromMap, Weak: h.weak || tool.Weak, Certain: h.certain && tool.Certain})
			}
		}
	}
	return ls
}

// otherReader reports whether some map statement uses a reader, such as the reader for shell
// scripts, to parse a field of a call of form f. It ignores the given field.
func (f *form) otherReader(maps []*mapping, field string) bool {
	return field != "" && slices.ContainsFunc(maps, func(m *mapping) bool {
		return m.Reader != nil && m.Field != "" && m.Field != field && m.appliesTo(f.tools) && f.value(m.Field) != nil
	})
}

// names returns the names that the net's own maps give to a call.
func (n *Net) names(f *form) []naming.Label {
	ls := slices.Clone(f.tools)
	hits := mappedNames(n.maps, f)
	if n.Info.MatchFirst && len(hits) > 0 {
		ls = hits[:1:1]
	} else {
		for _, l := range hits {
			ls = naming.Add(ls, l)
		}
	}
	return naming.WithPatterns(ls, n.listing.Patterns())
}

// A Tool is a callable tool and its aliases. An alias is a further name that the tool has without
// any map.
type Tool struct {
	Name     string
	Also     []gate.Name
	Supposed bool // whether the tool might not exist
}

// Also returns the aliases of each tool, keyed by the tool's name.
func Also(tools []Tool) map[string][]gate.Name {
	also := make(map[string][]gate.Name)
	for _, t := range tools {
		also[t.Name] = t.Also
	}
	return also
}

// eachForm calls do with a form for each combination of options, one option per field. If an option
// is nil, the form does not have the field. count is the number of combinations.
func eachForm(base []naming.Label, options [][]*value, count int, do func(*form)) {
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
func (m *mapping) appliesTo(tools []naming.Label) bool {
	return slices.ContainsFunc(tools, func(l naming.Label) bool { return m.matchesTool(l.Text) })
}
