package simulate

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// ReadAs resolves an unqualified tool name to an agent's built-in tool: for example, "Bash" becomes
// "claude-code.Bash". It does so only if the policy names tools of exactly one agent that has such
// a tool, and if no server can have a tool of this name. Otherwise, ReadAs returns c unchanged.
func (s *Simulation) ReadAs(c Call) Call {
	if own := s.ownTools(c.Tool); len(own) == 1 && !s.served(c.Tool) {
		c.Asked, c.Tool = c.Tool, own[0]
	}
	return c
}

// ownTools returns the agents' tools, such as "claude-code.Bash", that an unqualified name may
// denote. It omits the tools of agents that the policy does not mention.
func (s *Simulation) ownTools(name string) (own []string) {
	named := append(s.names(), list.Map(s.result.Policy.Maps(), func(m gate.Map) string { return m.Tool })...)
	for _, agent := range agenttool.Agents() {
		if !check.OfAgent(agent+"."+name, s.source.Config) { // a server has the same name as the agent
			continue
		}
		tool := agenttool.Spelt(agent, name)
		if tool == "" && slices.Contains(named, agent+"."+name) {
			tool = name
		}
		if tool != "" && slices.ContainsFunc(named, func(n string) bool { return strings.HasPrefix(n, agent+".") }) {
			own = append(own, agent+"."+tool)
		}
	}
	return own
}

// served reports whether any server has a tool with the given name. If the existing tools are
// unknown, it reports whether any server might have one.
func (s *Simulation) served(name string) bool {
	if s.tools.Known {
		return slices.Contains(check.ToolSet{Tools: s.tools.Tools, Known: true}.Names(), name)
	}
	return check.MayServe(s.source.Config, name)
}
