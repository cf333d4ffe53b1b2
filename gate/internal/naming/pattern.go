package naming

// A Pattern is a glob over the names of a call.
type Pattern struct {
	Text    string
	Except  string // the pattern does not match a call that certainly has this name
	Literal bool   // Except is quoted, so an action of that name does not count
	Actions bool   // the pattern contains a dot and so applies to tool.action
}

// appliesTo reports whether g is compared with l at all.
func (g *Pattern) appliesTo(l *Label) bool {
	if l.ActionOnly() && !g.Actions {
		return false
	}
	return g.Except == "" || l.Text != g.Except || g.Literal && l.ActionOnly()
}

// exempts reports whether l exempts the whole call from g.
func (g *Pattern) exempts(l *Label) bool {
	return g.Except != "" && l.Certain && l.Text == g.Except && !(g.Literal && l.ActionOnly())
}
