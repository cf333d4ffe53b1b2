// Package naming computes the names of a call: its tool, the tool together with its action
// (tool.action), the names that the policy's maps give to it, and the patterns that match these
// names. It also determines how certain each name is.
package naming

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/jsonpath"
)

// Naming computes the labels that a policy gives to calls.
type Naming struct {
	mapping        *Mapping        // the policy's maps; nil if it has none
	bases          map[string]bool // tools that rules use in names of the form tool.action
	dotted         map[string]bool // names of the form tool.action that rules use
	globs          []Pattern       // patterns in order of first use
	actionPatterns bool            // whether any pattern can match names of the form tool.action
}

// New returns the naming for a policy with the given [toolnet.Map] values.
func New(maps []toolnet.Map) *Naming {
	g := &Naming{bases: make(map[string]bool), dotted: make(map[string]bool)}
	if len(maps) > 0 {
		g.mapping = NewMapping(maps)
	}
	return g
}

// Exempt registers tools from an Unless list or a phase, so that g recognizes their names in calls.
func (g *Naming) Exempt(tools []toolnet.Tool) {
	for _, u := range tools {
		switch u.Kind {
		case toolnet.Plain:
			g.Name(u.Name)
		case toolnet.Glob:
			g.actionPatterns = g.actionPatterns || strings.Contains(u.Name, ".")
		}
	}
}

// Name registers a name that a rule uses. If the name has the form tool.action, calls to the tool
// can then get names of this form from their "action" argument.
func (g *Naming) Name(name string) {
	for i := 1; i < len(name); i++ {
		if name[i] == '.' {
			g.bases[name[:i]] = true
			g.dotted[name] = true
		}
	}
}

// Why reports whether the call gets the given name from a map statement with a Reader; see
// [toolnet.Map]. The argument tools holds the call's physical names; see [toolnet.Call]. Why relies
// on the Reader alone, although a name can be uncertain for other reasons. It ignores strings that
// the Reader fails to read.
//
// The Doubt explains why the name is uncertain, or why the call's success does not count toward a
// requirement for the name. If the call does not get the name but resembles a map statement's
// pattern, the Doubt describes the missing part. In all other cases, it is empty.
func (g *Naming) Why(c *toolnet.Call, tools []Label, name string) (toolnet.Doubt, toolnet.Found) {
	return g.mapping.gives(c, tools, name)
}

// Number returns the pattern's index in the policy, registering the pattern if necessary. Calls
// with a name that matches a registered pattern get the pattern as a label.
func (g *Naming) Number(p *Pattern) int {
	g.actionPatterns = g.actionPatterns || p.Actions
	g.Name(p.Except)
	i := slices.Index(g.globs, *p)
	if i < 0 {
		i = len(g.globs)
		g.globs = append(g.globs, *p)
	}
	return i
}

// Physical appends the names of the call that do not depend on its arguments.
func Physical(c *toolnet.Call, ls []Label) []Label {
	ls = append(ls, Label{Text: c.Tool, From: FromTool, Certain: !c.Foreign, Weak: c.Foreign})
	for _, n := range c.Also {
		ls = Add(ls, Label{Text: n.Text, From: FromTool, Certain: n.Certain, Weak: n.Weak})
	}
	return ls
}

// Labels appends all labels of the call: physical names (see [toolnet.Call]), names of the form
// tool.action, names given by maps (see [toolnet.Map]), and patterns.
func (g *Naming) Labels(c *toolnet.Call, tools, ls []Label) []Label {
	ls = append(ls, tools...)
	for i := range tools {
		if g.HasActions(tools[i].Text) {
			ls = g.actions(c, tools[i], ls)
		}
	}
	if g.mapping != nil {
		ls = g.mapping.names(c, tools, ls)
	}
	if len(g.globs) > 0 {
		ls = WithPatterns(ls, g.globs)
	}
	return ls
}

// Patterns returns the policy's patterns. [Naming.Number] returns indexes into this slice.
func (g *Naming) Patterns() []Pattern { return g.globs }

// HasActions reports whether a rule can use a name of the form tool.action for the tool, either
// directly or through a pattern.
func (g *Naming) HasActions(tool string) bool { return g.actionPatterns || g.bases[tool] }

// Dotted returns the names of the form tool.action that rules use. The result must not be modified.
func (g *Naming) Dotted() map[string]bool { return g.dotted }

// actions appends names of the form tool.action for the call's argument "action". If the argument
// is not a single string, it can produce many names. In this case, actions appends only the names
// that rules need.
func (g *Naming) actions(c *toolnet.Call, tool Label, ls []Label) []Label {
	f := jsonpath.Member(c.Args, "action")
	l := Label{From: FromAction, Certain: tool.Certain && !f.Weak()}
	for _, action := range f.All() {
		l.Text = tool.Text + "." + action
		l.Weak = tool.Weak || f.Weak() || c.Others[l.Text]
		if !f.Weak() || g.dotted[l.Text] || g.Needs(&l, ls) {
			ls = Add(ls, l)
		}
	}
	return ls
}

// Needs reports whether some pattern matches l but none of the labels in ls.
func (g *Naming) Needs(l *Label, ls []Label) bool {
	return slices.ContainsFunc(g.globs, func(p Pattern) bool {
		_, already := p.match(ls)
		return !already && p.appliesTo(l) && toolnet.MatchGlob(p.Text, l.Text)
	})
}

// WithPatterns appends to ls those patterns that match any of the labels in ls.
func WithPatterns(ls []Label, globs []Pattern) []Label {
	names := slices.Clip(ls)
	for i := range globs {
		if l, ok := globs[i].match(names); ok {
			l.Glob = int32(i + 1)
			ls = append(ls, l)
		}
	}
	return ls
}

// CanGive reports whether a call with the given physical names (see [toolnet.Call]) could get, from
// its arguments, a name that u matches. If certain is true, only names that are certain count.
func (g *Naming) CanGive(tools []Label, u *toolnet.Tool, certain bool) bool {
	return slices.ContainsFunc(tools, func(tool Label) bool {
		return g.mapping.canGive(tool.Text, u, certain) || u.Kind != toolnet.Literal &&
			(strings.HasPrefix(u.Name, tool.Text+".") || u.Kind == toolnet.Glob && strings.Contains(u.Name, "."))
	})
}
