package hook

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// agentName returns a tool's name with an underscore in place of each character that agents do not
// allow.
func agentName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// isTool reports whether a tool has the given name, either as its main name or as an additional
// one.
func isTool(tools []gate.Call, name string) bool {
	for i := range tools {
		if tools[i].Tool == name || slices.ContainsFunc(tools[i].Also, func(also gate.Name) bool { return also.Text == name }) {
			return true
		}
	}
	return false
}
