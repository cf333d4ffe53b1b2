package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/toolname"
)

// A ListedTool is an entry of a tool list, in the format of tools/list or of petrigate tools
// --json.
type ListedTool struct {
	Name, Exposed, Bare, Canonical string
	InputSchema                    json.RawMessage
	Annotations                    json.RawMessage // hints of the server; nil: none
}

// ParseTools reads a result of tools/list, its tools array, or a list of names. Errors include the
// file name.
func ParseTools(file string, src []byte) ([]ListedTool, error) {
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(src, &list) != nil && json.Unmarshal(src, &list.Tools) != nil {
		return nil, fmt.Errorf("%s is not a tool list: write what tools/list answers, or a list of names", file)
	}
	tools := []ListedTool{}
	for i, raw := range list.Tools {
		var tool ListedTool
		if json.Unmarshal(raw, &tool.Name) != nil && json.Unmarshal(raw, &tool) != nil || tool.Name+tool.Exposed == "" {
			return nil, fmt.Errorf("%s: entry %d of the tool list has no name", file, i+1)
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// complete derives the other names of a tool from its exposed name, whose prefix identifies the
// server.
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

// names returns the names of the tool as the proxy represents them.
func (t ListedTool) names() toolname.Names {
	return toolname.Names{Upstream: strings.TrimSuffix(strings.TrimSuffix(t.Canonical, t.Bare), "."), Exposed: t.Exposed, Bare: t.Bare, Canonical: t.Canonical}
}

// toolOf returns the tool with the bare name that the server uses for it.
func toolOf(o toolname.Owner, bare string) ListedTool {
	return ListedTool{Exposed: o.Prefix + bare, Bare: bare, Canonical: o.Upstream + "." + bare}
}

// A ToolSet holds tools with all the names that a call of each has.
type ToolSet struct {
	Tools []verify.Tool
	Known bool // no other tools exist; otherwise the rules make these tools likely

	Schemas map[string][]policy.Schema // argument schemas by each name of a tool; likely tools have none
	Agents  bool                       // agents also call their built-in tools, and report the calls by hooks
	Hooks   []string                   // all agents that use petrigate as a hook; nil: unknown

	named bool // the rules name tools of agents whose hooks may be added later
}

// Lacks returns a function that returns the argument that a field reads although the tool does not
// take it by its schema; nil if no schemas are known.
func (s ToolSet) Lacks() func(tool string, f gate.Field) string {
	if len(s.Schemas) == 0 {
		return nil
	}
	return func(tool string, f gate.Field) string { return policy.Lacks(s.Schemas[tool], f) }
}

// KnownSet returns the set of a complete list of tools. If a configuration is given, tools known
// only by their exposed name get their other names too.
func KnownSet(list []ListedTool, cfg *config.Config) ToolSet {
	owners := Owners(cfg)
	for i := range list {
		list[i].complete(owners)
	}
	if cfg == nil {
		owners = ownersOf(list)
	}
	set := ToolSet{Tools: joined(list, owners), Known: true, Schemas: make(map[string][]policy.Schema), Agents: cfg != nil && cfg.Listen.Hooks, named: namesAgents(cfg)}
	for i, t := range set.Tools {
		schema := policy.ParseSchema(list[i].InputSchema)
		set.Schemas[t.Name] = append(set.Schemas[t.Name], schema)
		for _, also := range t.Also {
			set.Schemas[also.Text] = append(set.Schemas[also.Text], schema)
		}
	}
	return set
}

// LikelyTools returns the tools that the names in rules suggest if no list is known: in a
// configuration with a server gh, a rule for gh_push or gh.push suggests the tool push of that
// server. Any other server might have a tool of that name as well.
func LikelyTools(cfg *config.Config, result *policy.Result) ToolSet {
	if cfg == nil || result.Policy == nil {
		return ToolSet{}
	}
	owners := Owners(cfg)
	var list []ListedTool
	for _, name := range NamesIn(result) {
		for _, o := range owners {
			bare, canonical := strings.CutPrefix(name, o.Upstream+".")
			if !canonical {
				bare = strings.TrimPrefix(name, o.Prefix)
			}
			if bare != name && bare != "" && !strings.ContainsAny(name, "*?") {
				list = append(list, toolOf(o, bare))
			}
		}
	}
	named := len(list)
	for _, t := range list[:named] {
		for _, o := range owners {
			list = append(list, toolOf(o, t.Bare))
		}
	}
	return likely(list, named, owners)
}

// likely joins the names of tools that might not exist, each separately, since only one of them may
// own a bare name. The first named tools are suggested by rules; no claim may depend on the others.
func likely(list []ListedTool, named int, owners toolname.Owners) ToolSet {
	var set ToolSet
	seen := make(map[string]bool)
	for i, t := range list {
		if seen[t.Exposed] {
			continue
		}
		seen[t.Exposed] = true
		tool := joined([]ListedTool{t}, owners)[0]
		tool.Supposed = i >= named
		set.Tools = append(set.Tools, tool)
	}
	return set
}

// NamesIn returns the names that nets and claims mention.
func NamesIn(result *policy.Result) []string {
	var names []string
	for _, net := range result.Policy.Nets() {
		for _, name := range listed(net) {
			names = append(names, strings.Trim(name, `"`))
		}
	}
	for _, c := range result.Claims {
		names = append(names, c.Tool.Name, c.First.Name)
	}
	return names
}

// Owners returns the enabled servers of the configuration with the prefixes of their tools.
func Owners(cfg *config.Config) toolname.Owners {
	if cfg == nil {
		return nil
	}
	var owners toolname.Owners
	servers := slices.DeleteFunc(slices.Clone(cfg.Servers), func(s config.Server) bool { return s.Disabled })
	for _, s := range servers {
		owners = append(owners, toolname.Owner{Upstream: s.Name, Prefix: toolname.Prefix(s.Name, s.Prefix, s.HasPrefix, len(servers) == 1)})
	}
	return owners
}

// MayServe reports whether a server of the configuration, which may be nil, can show clients a tool
// that the server calls by this name.
func MayServe(cfg *config.Config, name string) bool {
	return cfg != nil && slices.ContainsFunc(cfg.Servers, func(s config.Server) bool {
		return !s.Disabled && toolname.Filter(s.Tools).Filtered(name) == ""
	})
}

// ownersOf returns the servers of the tools in a recorded list.
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

// joined returns the tools under their exposed names, with their further names.
func joined(list []ListedTool, owners toolname.Owners) []verify.Tool {
	all := make([]toolname.Names, 0, len(list))
	for _, t := range list {
		all = append(all, t.names())
	}
	tools := []verify.Tool{}
	for i, also := range toolname.AdditionalNames(all, owners) {
		tools = append(tools, verify.Tool{Name: list[i].Exposed, Also: also})
	}
	return tools
}

// CallsUnder returns a function that creates calls with the names that tools have behind a proxy
// with this configuration: gh_push or gh.push is the tool push of the server gh, and
// claude-code.Bash is the built-in tool Bash of that agent, named as in hook events. Without a
// configuration a server's tool has one name.
func CallsUnder(cfg *config.Config) func(tool string) gate.Call {
	owners := Owners(cfg)
	return func(tool string) gate.Call {
		if agent, own, ok := ownTool(tool, owners); ok {
			return gate.Call{Tool: own.Name, Also: own.Also, Upstream: agent}
		}
		if cfg == nil {
			return gate.Call{Tool: tool}
		}
		listed := ListedTool{Name: tool}
		for _, o := range owners {
			if bare, ok := strings.CutPrefix(tool, o.Upstream+"."); ok {
				listed = toolOf(o, bare)
			}
		}
		listed.complete(owners)
		named := joined([]ListedTool{listed}, owners)[0]
		return gate.Call{Tool: named.Name, Foreign: owners.Foreign(listed.names()), Also: named.Also, Upstream: listed.names().Upstream}
	}
}

// Names returns all names of the tools; nil if the tools are unknown.
func (s ToolSet) Names() []string {
	if !s.Known {
		return nil
	}
	names := []string{}
	for _, t := range s.Tools {
		names = append(names, t.Name)
		for _, also := range t.Also {
			names = append(names, also.Text)
		}
	}
	if s.Agents || s.named {
		names = append(names, agenttool.Names()...)
	}
	return names
}

// Hooked returns the names that only built-in tools of agents have, as far as that is known: names
// with an agent, and if the tools of the servers are known, names that no server's tool has.
func (s ToolSet) Hooked() []string {
	servers := ToolSet{Tools: s.Tools, Known: s.Known}.Names()
	return slices.DeleteFunc(agenttool.Names(), func(name string) bool {
		if s.Known && s.Agents {
			return slices.Contains(servers, name)
		}
		return !strings.Contains(name, ".")
	})
}

// AddHooks adds the agents of a user that use petrigate as a hook. complete reports that all of the
// user's agents are known; if hooks arrive over the network, there may be other users' agents too.
func (s *ToolSet) AddHooks(agents []string, complete bool) {
	if complete && !s.Agents {
		s.Hooks = agents
	}
	s.Agents = s.Agents || len(agents) > 0
}

// Unended returns the names of tools that run agents' scripts without any hook that reports how a
// script ended: tools of agents that never report it, and if all hooks are of such agents, the
// names that these tools have in common with others.
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

// others returns the known tools that have none of the seen names.
func (s ToolSet) others(seen map[string]bool) []string {
	var names []string
	for _, t := range s.Tools {
		if s.Known && !seen[t.Name] && !slices.ContainsFunc(t.Also, func(n gate.Name) bool { return seen[n.Text] }) {
			names = append(names, t.Name)
		}
	}
	return names
}

// Find returns the tool with this name, preferably the exposed name; false if several tools have
// it.
func (s ToolSet) Find(name string) (verify.Tool, bool) {
	for _, t := range s.Tools {
		if t.Name == name {
			return t, true
		}
	}
	var found []verify.Tool
	for _, t := range s.Tools {
		if slices.ContainsFunc(t.Also, func(n gate.Name) bool { return n.Text == name }) {
			found = append(found, t)
		}
	}
	if len(found) != 1 {
		return verify.Tool{}, false
	}
	return found[0], true
}
