package rules

import "github.com/petrigate/petrigate/gate"

// gateMap is m as the gate takes it, or false where it has been refused.
func (c *compiler) gateMap(m *Map) (gate.Map, bool) {
	out := gate.Map{Tool: m.Tool.Text, Field: m.Field, As: m.As.Text, Source: m.Pattern.String(), Rule: m.Pos}
	switch m.Pattern.Kind {
	case Runs, When:
		c.failAt(m, m.Pattern.Pos, c.patternSpan(m), NotSupported, "", "%q is not supported yet", m.Pattern)
		return out, false
	default:
		out.Match = m.Pattern.match
	}
	return out, true
}
