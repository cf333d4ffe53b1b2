package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/text"
)

const (
	codeDenied = "W118" // the policy's default refuses agents' built-in tools
)

// Denied warns about the agents' built-in tools that no rule names. The policy's default will
// refuse them once the configuration is enforced. Denied omits blocked tools, because those are
// refused intentionally.
func Denied(c *config.Config, agents []string) diag.List {
	if c == nil || c.Default != "deny" {
		return nil
	}
	source := policy.FromConfig(c)
	source.Mode = "enforce"
	result, err := policy.Build(source)
	if err != nil {
		return nil // other checks report this error
	}
	state := result.Policy.NewState(result.Active)
	var told, allow []string
	for _, agent := range agents {
		denied, all := refusedByDefault(result.Policy, state, agent), agenttool.Of(agent)
		if len(denied) == 0 {
			continue
		}
		told = append(told, fmt.Sprintf("%d of %s of %s (%s)", len(denied), text.Count(len(all), "tool"), agent, strings.Join(firstNames(denied), ", ")))
		allow = append(allow, agent+".*")
	}
	if told == nil {
		return nil
	}
	return diag.List{Warning(codeDenied, config.Position{File: c.File}, "default: deny refuses agents' own tools that no rule names, in all projects: "+text.And(told),
		fmt.Sprintf("write \"allow %s\", or block the tools to refuse", strings.Join(allow, ", ")))}
}

// Listened returns the agents that may send hook events over the network: those named in rules, or
// all agents if rules name no agent.
func Listened(c *config.Config) []string {
	if c == nil || !c.Listen.Hooks {
		return nil
	}
	all := agenttool.Agents()
	named := slices.DeleteFunc(slices.Clone(all), func(agent string) bool { return !names(c, agent) })
	if len(named) > 0 {
		return named
	}
	return all
}

// names reports whether the rules name a tool of the agent and qualify it with the agent's name, as
// in "claude-code.Bash".
func names(c *config.Config, agent string) bool {
	return slices.ContainsFunc(c.Rules, func(r config.RuleText) bool { return strings.Contains(r.Text, agent+".") })
}

// refusedByDefault returns the agent's tools that are refused by the policy's default.
func refusedByDefault(p *gate.Policy, state *gate.State, agent string) []string {
	return slices.DeleteFunc(agenttool.Of(agent), func(tool string) bool {
		d, _ := p.Decide(state, gate.Call{Tool: tool, Also: NamesByHook(agent, tool, true), Args: json.RawMessage("{}")}, nil)
		r, refused := d.(*gate.Refusal)
		return !refused || r.Kind != gate.KindDefault
	})
}

// firstNames returns the first few names, followed by "..." if it omits any.
func firstNames(names []string) []string {
	const most = 4
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:most]), "...")
}
