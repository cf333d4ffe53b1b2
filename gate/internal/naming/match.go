package naming

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/toolnet"
)

// Exempts reports whether u matches a certain name.
func Exempts(u *toolnet.Tool, ls []Label) bool {
	return slices.ContainsFunc(ls, func(l Label) bool { return l.Certain && Matches(u, &l) })
}

// Matches reports whether u matches l. A label that is a pattern never matches, because it is not a
// name.
func Matches(u *toolnet.Tool, l *Label) bool {
	if l.Glob > 0 {
		return false
	}
	switch u.Kind {
	case toolnet.Glob:
		g := Pattern{Text: u.Name, Actions: strings.Contains(u.Name, ".")}
		return g.appliesTo(l) && toolnet.MatchGlob(u.Name, l.Text)
	case toolnet.Literal:
		return l.Text == u.Name && !l.ActionOnly()
	default:
		return l.Text == u.Name
	}
}

// CanGive reports whether some arguments could give a call with these physical names a name that u
// matches; with certain, a certain name.
func (g *Naming) CanGive(tools []Label, u *toolnet.Tool, certain bool) bool {
	return slices.ContainsFunc(tools, func(tool Label) bool {
		return g.mapping.canGive(tool.Text, u, certain) || u.Kind != toolnet.Literal &&
			(strings.HasPrefix(u.Name, tool.Text+".") || u.Kind == toolnet.Glob && strings.Contains(u.Name, "."))
	})
}

// CanGive is [Naming.CanGive] for the names of the net; it does not consider a Go function.
func (o *Own) CanGive(tools []Label, u *toolnet.Tool, certain bool) bool {
	return slices.ContainsFunc(tools, func(tool Label) bool { return o.Maps.canGive(tool.Text, u, certain) })
}

// canGive reports whether a map of the tool gives a name that u matches; with certain, whether that
// name can be certain. m may be nil.
func (m *Mapping) canGive(tool string, u *toolnet.Tool, certain bool) bool {
	return m != nil && slices.ContainsFunc(m.mapsOf(tool), func(number int) bool {
		d := &m.maps[number]
		return (d.Reader != nil || !certain) && Matches(u, &Label{Text: d.As, From: FromMap})
	})
}
