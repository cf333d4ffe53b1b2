package gate

// glob is a pattern over the names of a call.
type glob struct {
	pattern string
	except  string // a call that certainly has this name is not matched
	literal bool   // except is quoted: an action of that name does not count
	actions bool   // the pattern has a dot and so sees tool.action
}

// sees reports whether g applies to l at all.
func (g *glob) sees(l *label) bool {
	if l.actionOnly() && !g.actions {
		return false
	}
	return g.except == "" || l.text != g.except || g.literal && l.actionOnly()
}

// spares reports whether l exempts the whole call from g.
func (g *glob) spares(l *label) bool {
	return g.except != "" && l.certain && l.text == g.except && !(g.literal && l.actionOnly())
}
