package gate

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/jsonpath"
)

// label is one name of a call, with its sources.
type label struct {
	text    string
	glob    int32 // number of the pattern + 1 where text is a pattern
	from    source
	certain bool
	weak    bool
}

// source is the set of ways by which a call got a name.
type source uint8

const (
	fromTool source = 1 << iota
	fromAction
	fromMap
	fromGlob
)

// actionOnly reports whether l is tool.action and nothing else besides.
func (l *label) actionOnly() bool { return l.from == fromAction }

// add appends l. A name that is there keeps its place; it is certain if any of
// its sources is, and weak only if all are.
func add(ls []label, l label) []label {
	for i := range ls {
		if k := &ls[i]; k.text == l.text && k.glob == l.glob {
			k.from |= l.from
			k.certain = k.certain || l.certain
			k.weak = k.weak && l.weak
			return ls
		}
	}
	return append(ls, l)
}

// naming labels calls for a policy.
type naming struct {
	used    bool            // some net reads labels
	mapping *mapping        // nil: no maps
	bases   map[string]bool // tools of which a rule names an action
	dotted  map[string]bool // the names of actions
	globs   []glob          // in order of first use
	dots    bool            // some pattern sees actions
}

// newNaming collects what the rules among nets use, and numbers their globs.
func newNaming(maps []Map, nets []*net) *naming {
	g := &naming{bases: make(map[string]bool), dotted: make(map[string]bool)}
	if len(maps) > 0 {
		g.mapping = newMapping(maps)
	}
	for _, n := range nets {
		if n.Labels == nil {
			continue
		}
		g.used = true
		for name := range n.rows {
			g.dot(name)
		}
		for i := range n.patterns {
			n.globs[i].number = g.number(&n.patterns[i])
		}
		for i := range n.Transitions {
			g.exemptions(n.Transitions[i].Unless)
		}
		for i := range n.Phases {
			g.exemptions(n.Phases[i].Tools)
		}
	}
	return g
}

// exemptions makes calls get the names that exempt them.
func (g *naming) exemptions(tools []Tool) {
	for _, u := range tools {
		switch u.Kind {
		case Plain:
			g.dot(u.Name)
		case Glob:
			g.dots = g.dots || strings.Contains(u.Name, ".")
		}
	}
}

// dot records name if it can be tool.action, at each of its dots.
func (g *naming) dot(name string) {
	for i := 1; i < len(name); i++ {
		if name[i] == '.' {
			g.bases[name[:i]] = true
			g.dotted[name] = true
		}
	}
}

// number returns the number of the pattern, which it collects.
func (g *naming) number(p *glob) int {
	g.dots = g.dots || p.actions
	g.dot(p.except)
	i := slices.Index(g.globs, *p)
	if i < 0 {
		i = len(g.globs)
		g.globs = append(g.globs, *p)
	}
	return i
}

// physical appends the names of the call that do not depend on its arguments.
func physical(c *Call, ls []label) []label {
	ls = append(ls, label{text: c.Tool, from: fromTool, certain: !c.Foreign, weak: c.Foreign})
	for _, n := range c.Also {
		ls = add(ls, label{text: n.Text, from: fromTool, certain: n.Certain, weak: n.Weak})
	}
	return ls
}

// labels appends all labels of the call, in the order of the contract.
func (g *naming) labels(c *Call, tools, ls []label) []label {
	ls = append(ls, tools...)
	if !g.used {
		return ls
	}
	for i := range tools {
		if g.dots || g.bases[tools[i].text] {
			ls = g.actions(c, tools[i], ls)
		}
	}
	if g.mapping != nil {
		ls = g.mapping.names(c, tools, ls)
	}
	return withPatterns(ls, g.globs)
}

// actions appends tool.action. Another value can contain many strings; only those
// that a rule names count.
func (g *naming) actions(c *Call, tool label, ls []label) []label {
	f := jsonpath.Member(c.Args, "action")
	l := label{from: fromAction, certain: tool.certain && !f.Weak()}
	for _, action := range f.All() {
		l.text = tool.text + "." + action
		l.weak = tool.weak || f.Weak() || c.Others[l.text]
		if !f.Weak() || g.dotted[l.text] || g.wants(&l, ls) {
			ls = add(ls, l)
		}
	}
	return ls
}

// wants reports whether a pattern matches l that matches none of ls.
func (g *naming) wants(l *label, ls []label) bool {
	return slices.ContainsFunc(g.globs, func(p glob) bool {
		_, already := p.match(ls)
		return !already && p.sees(l) && toolnet.MatchGlob(p.pattern, l.text)
	})
}

// withPatterns appends the globs that match one of ls.
func withPatterns(ls []label, globs []glob) []label {
	names := slices.Clip(ls)
	for i := range globs {
		if l, ok := globs[i].match(names); ok {
			l.glob = int32(i + 1)
			ls = append(ls, l)
		}
	}
	return ls
}

// match returns the label that the pattern gives a call with these names.
func (g *glob) match(names []label) (label, bool) {
	l := label{text: g.pattern, from: fromGlob, weak: true}
	found := false
	for i := range names {
		n := &names[i]
		if g.spares(n) {
			return label{}, false
		}
		if g.sees(n) && toolnet.MatchGlob(g.pattern, n.text) {
			found = true
			l.certain = l.certain || n.certain
			l.weak = l.weak && n.weak
		}
	}
	return l, found
}

// labels returns the names that a net without Labels gives the call; ok is false if
// its Go mapper panicked.
func (n *net) labels(c *Call, tools []label) (ls []label, ok bool) {
	switch {
	case n.Mapper != nil:
		if ls, ok = n.mapped(c); !ok {
			return nil, false
		}
	case n.maps != nil:
		ls = n.maps.labels(c, tools, n.MatchFirst)
	default:
		ls = tools
	}
	return withPatterns(slices.Clip(ls), n.patterns), true
}

// mapped calls the Go mapper of the net.
func (n *net) mapped(c *Call) (ls []label, ok bool) {
	defer func() {
		if recover() != nil {
			ls, ok = nil, false
		}
	}()
	for _, name := range n.Mapper(*c) {
		ls = add(ls, label{text: name.Text, from: fromMap, certain: name.Certain, weak: name.Weak})
	}
	return ls, true
}

// Names returns all names of a call: the labels of the policy, then those that nets
// with names of their own add, in their order. It costs as much as a decision.
func (p *Policy) Names(c Call) []Name {
	j := &p.Prepare(c).judgement
	ls := j.labels
	for _, n := range p.nets {
		if n.own() {
			own, _ := n.labels(j.call, j.tools)
			ls = merge(ls, own)
		}
	}
	return names(ls)
}

// merge adds all of more.
func merge(ls, more []label) []label {
	for _, l := range more {
		ls = add(ls, l)
	}
	return ls
}

// own reports whether the net can give calls names that the policy does not.
func (n *net) own() bool { return n.Labels == nil && (n.Mapper != nil || n.maps != nil) }

// names returns ls for callers of the package. Two versions of a pattern are one
// name.
func names(ls []label) []Name {
	out := make([]Name, 0, len(ls))
	for i := range ls {
		l := &ls[i]
		same := func(n Name) bool { return n.Text == l.text }
		if l.glob > 0 && slices.ContainsFunc(out, same) {
			continue
		}
		out = append(out, Name{Text: l.text, Certain: l.certain, Weak: l.weak})
	}
	return out
}
