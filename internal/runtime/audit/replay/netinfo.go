package replay

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// A netInfo describes which parts of a recorded call a net depends on.
type netInfo struct {
	name     string
	opaque   bool
	advisory bool
	keys     []string // argument fields that the net reads
	sums     []string
	results  []string
	tools    []gate.Tool
	mentions []gate.Tool // all tools that the net mentions, even if only to exclude them
	always   bool        // whether any call can concern the net, whatever the names of the call are
	row      bool        // whether the net counts consecutive identical calls
}

// concerns reports whether a call with the given names can concern the net.
func (n *netInfo) concerns(names map[string]gate.Name) bool {
	return n.always || anyMatch(n.tools, names)
}

// anyMatch reports whether any of the names matches any of the tools.
func anyMatch(tools []gate.Tool, names map[string]gate.Name) bool {
	return slices.ContainsFunc(tools, func(t gate.Tool) bool {
		if t.Kind != gate.Glob {
			_, ok := names[t.Name]
			return ok
		}
		for name := range names {
			if toolnet.MatchGlob(t.Name, name) {
				return true
			}
		}
		return false
	})
}

// affectedBy returns the reason why the net cannot be evaluated for a call, or "" if it can. The
// map contains the names that the call's record lacks, each with the reason. An empty name means
// that any name may be missing.
func (n *netInfo) affectedBy(missing map[string]string) string {
	for name, why := range missing {
		if name == "" || n.always || anyMatch(n.mentions, map[string]gate.Name{name: {}}) {
			return why
		}
	}
	return ""
}
