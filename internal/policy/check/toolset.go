package check

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/toolname"
)

// A ToolSet holds tools, each with all names that calls to it can have.
type ToolSet struct {
	Tools []verify.Tool
	Known bool // whether Tools contains all existing tools; if false, Tools contains those that the rules suggest, and others may exist

	Schemas map[string][]policy.Schema // argument schemas by tool name, with an entry for each name of a tool; nil for tools that were only guessed from the rules
	Agents  bool                       // whether agents also call their built-in tools and report these calls through hooks
	Hooks   []string                   // all agents that use petrigate as a hook; nil if unknown

	named bool // whether the rules name tools of agents whose hooks might be added later
}

// A ListedTool is an entry in a list of tools, in the format of tools/list or of "petrigate tools
// --json".
type ListedTool struct {
	Name, Exposed, Bare, Canonical string
	InputSchema                    json.RawMessage
	Annotations                    json.RawMessage // hints from the server; may be nil
}

// complete derives the other names of a tool from its exposed name, the name that clients see. The
// prefix of this name identifies the server.
func (t *ListedTool) complete(owners toolname.Owners) {
	if t.Exposed != "" {
		return
	}
	t.Exposed = t.Name
	owner := owners.Exposed(t.Name)
	for _, o := range owners {
		if o.Upstream == owner {
			t.Bare = t.Name[len(o.Prefix):]
			t.Canonical = owner + "." + t.Bare
		}
	}
}

// names returns the tool's names as a [toolname.Names] value.
func (t ListedTool) names() toolname.Names {
	return toolname.Names{Upstream: strings.TrimSuffix(strings.TrimSuffix(t.Canonical, t.Bare), "."), Exposed: t.Exposed, Bare: t.Bare, Canonical: t.Canonical}
}

// toolOf returns the tool of server o with the given bare name.
func toolOf(o toolname.Owner, bare string) ListedTool {
	return ListedTool{Exposed: o.Prefix + bare, Bare: bare, Canonical: o.Upstream + "." + bare}
}

// MayServe reports whether clients may see a tool that has the given name on a configured server.
// cfg may be nil.
func MayServe(cfg *config.Config, name string) bool {
	return cfg != nil && slices.ContainsFunc(cfg.Servers, func(s config.Server) bool {
		return !s.Disabled && toolname.Filter(s.Tools).Filtered(name) == ""
	})
}

// ownersOf derives the servers from a list of their tools, for use without a configuration.
func ownersOf(list []ListedTool) toolname.Owners {
	var owners toolname.Owners
	for _, t := range list {
		o := toolname.Owner{Upstream: t.names().Upstream, Prefix: strings.TrimSuffix(t.Exposed, t.Bare)}
		if o.Upstream != "" && !slices.ContainsFunc(owners, func(k toolname.Owner) bool { return k.Upstream == o.Upstream }) {
			owners = append(owners, o)
		}
	}
	return owners
}

// joined converts listed tools to [verify.Tool] values, each with the exposed name and all other
// names of the tool.
func joined(all []ListedTool, owners toolname.Owners) []verify.Tool {
	tools := []verify.Tool{}
	for i, also := range toolname.AdditionalNames(list.Map(all, ListedTool.names), owners) {
		tools = append(tools, verify.Tool{Name: all[i].Exposed, Also: also})
	}
	return tools
}

// Lacks returns a function that checks whether a tool accepts the arguments that a [gate.Field],
// such as a path or an expression, reads from a call. The function returns an argument that no
// schema of the tool lists, or "" if it finds no such argument. If no schemas are known, Lacks
// returns nil.
func (s ToolSet) Lacks() func(tool string, f gate.Field) string {
	if len(s.Schemas) == 0 {
		return nil
	}
	return func(tool string, f gate.Field) string { return policy.Lacks(s.Schemas[tool], f) }
}

// Names returns all names of the tools, or nil if the tools are unknown.
func (s ToolSet) Names() []string {
	if !s.Known {
		return nil
	}
	names := []string{}
	for _, t := range s.Tools {
		names = append(names, t.Name)
		names = append(names, list.Map(t.Also, func(n gate.Name) string { return n.Text })...)
	}
	if s.Agents || s.named {
		names = append(names, agenttool.Names()...)
	}
	return names
}

// Hooked returns the names that are assumed to denote only agents' built-in tools. If all tools are
// known and agents report calls through hooks, these are the names that no server's tool has.
// Otherwise, they are the names that begin with the name of an agent, such as "claude-code.Bash".
func (s ToolSet) Hooked() []string {
	servers := ToolSet{Tools: s.Tools, Known: s.Known}.Names()
	return slices.DeleteFunc(agenttool.Names(), func(name string) bool {
		if s.Known && s.Agents {
			return slices.Contains(servers, name)
		}
		return !strings.Contains(name, ".")
	})
}

// AddHooks adds agents that use petrigate as a hook. complete is false if there may be more agents,
// such as those of other users whose hook events arrive over the network.
func (s *ToolSet) AddHooks(agents []string, complete bool) {
	if complete && !s.Agents {
		s.Hooks = agents
	}
	s.Agents = s.Agents || len(agents) > 0
}

// Unended returns the names of script tools whose agents never report the end of a script. A name
// without an agent, such as "bash", is included only if none of the agents that use petrigate as a
// hook reports it.
func (s ToolSet) Unended() (names []string) {
	bare := len(s.Hooks) > 0 && !slices.ContainsFunc(s.Hooks, agenttool.TellsEnds)
	hooked := s.Hooked()
	for _, agent := range agenttool.Agents() {
		if agenttool.TellsEnds(agent) {
			continue
		}
		for _, shell := range agenttool.Shells(agent) {
			for _, name := range []string{agent + "." + shell, shell, strings.ToLower(shell), "bash"} {
				if slices.Contains(hooked, name) && (bare || strings.Contains(name, ".")) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// namesExcept returns the name of each known tool, omitting tools with any name in the given set.
func (s ToolSet) namesExcept(seen map[string]bool) []string {
	var names []string
	for _, t := range s.Tools {
		if s.Known && !seen[t.Name] && !slices.ContainsFunc(t.Also, func(n gate.Name) bool { return seen[n.Text] }) {
			names = append(names, t.Name)
		}
	}
	return names
}

// Find returns the tool that clients see under the given name or, failing that, the only tool with
// this additional name. The second result is false if Find finds no such tool.
func (s ToolSet) Find(name string) (verify.Tool, bool) {
	if t := list.Find(s.Tools, func(t verify.Tool) bool { return t.Name == name }); t != nil {
		return *t, true
	}
	found := list.Filter(s.Tools, func(t verify.Tool) bool {
		return slices.ContainsFunc(t.Also, func(n gate.Name) bool { return n.Text == name })
	})
	if len(found) != 1 {
		return verify.Tool{}, false
	}
	return found[0], true
}
