package check

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/rules"
)

// withAgents returns a tool set that contains the tools in s and the agents' built-in tools that
// the policy names. It returns s unchanged if the list of tools is incomplete, or if no agent is
// expected to report its calls through hooks.
func (s ToolSet) withAgents(result *policy.Result) ToolSet {
	if !s.Known || !s.Agents && !s.named || result.Policy == nil {
		return s
	}
	named := NamesIn(result)
	all := slices.Clone(s.Tools)
	for _, agent := range agenttool.Agents() {
		for _, tool := range agenttool.Of(agent) {
			t := agentTool(agent, tool)
			mentioned := slices.Contains(named, tool) || slices.ContainsFunc(t.Also, func(n gate.Name) bool { return slices.Contains(named, n.Text) })
			if mentioned && !hasTool(all, tool) {
				all = append(all, t)
			}
		}
	}
	s.Tools = all
	return s
}

// namesAgents reports whether the rules name a built-in tool of an agent and qualify it with the
// agent's name, as in "claude-code.Bash". Such rules are meant for the agent's hook, which may be
// added later.
func namesAgents(cfg *config.Config) bool {
	if cfg == nil {
		return false
	}
	return slices.ContainsFunc(cfg.Rules, func(text config.RuleText) bool {
		file, _ := rules.Parse(text.File, []byte(text.Text))
		return slices.ContainsFunc(slices.Concat(file.Names(), file.Tools()), func(n rules.Name) bool {
			agent, tool, _ := strings.Cut(n.Text, ".")
			return OfAgent(n.Text, cfg) && slices.Contains(agenttool.Of(agent), tool)
		})
	})
}

// ToolsOf returns the built-in tools of the given agents, listing each name once. Without
// arguments, it returns the tools of all known agents.
func ToolsOf(agents ...string) (all []verify.Tool) {
	if len(agents) == 0 {
		agents = agenttool.Agents()
	}
	for _, agent := range agents {
		for _, tool := range agenttool.Of(agent) {
			if !hasTool(all, tool) {
				all = append(all, agentTool(agent, tool))
			}
		}
	}
	return all
}

func hasTool(all []verify.Tool, name string) bool {
	return slices.ContainsFunc(all, func(t verify.Tool) bool { return t.Name == name })
}

// agentTool returns a built-in tool of an agent, including the other names that calls to the tool
// can have.
func agentTool(agent, tool string) verify.Tool {
	return verify.Tool{Name: tool, Also: NamesByHook(agent, tool, true)}
}

// NamesByHook returns additional names for a call to an agent's tool. The agent's hook gives these
// names to the call. NamesByHook assumes that no server has a tool with any of these names. The
// parameter command tells whether the call has a field named "command".
func NamesByHook(agent, tool string, command bool) []gate.Name {
	return list.Map(agenttool.Further(agent, tool, agenttool.Members(agent, tool), command), func(n agenttool.Name) gate.Name {
		return gate.Name{Text: n.Text, Certain: n.Sure, Weak: !n.Sure}
	})
}

// OfAgent reports whether a name such as "claude-code.Bash" denotes an agent's built-in tool under
// the configuration cfg, which may be nil.
func OfAgent(name string, cfg *config.Config) bool {
	_, _, ok := ownTool(name, policy.Owners(cfg))
	return ok
}

// ownTool looks up an agent's tool by its full name, for example "claude-code.Bash". If a server
// has the same name as the agent, the name denotes the server's tool instead.
func ownTool(name string, owners toolname.Owners) (agent string, t verify.Tool, ok bool) {
	agent, tool, _ := strings.Cut(name, ".")
	server := func(o toolname.Owner) bool { return o.Upstream == agent }
	if tool == "" || !slices.Contains(agenttool.Agents(), agent) || slices.ContainsFunc(owners, server) {
		return "", t, false
	}
	return agent, agentTool(agent, tool), true
}
