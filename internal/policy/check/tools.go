package check

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/toolname"
)

// ParseTools parses a list of tools: the result of a tools/list request, the "tools" array in it,
// or a list of names. Errors include the file name.
func ParseTools(file string, src []byte) ([]ListedTool, error) {
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(src, &list) != nil && json.Unmarshal(src, &list.Tools) != nil {
		return nil, fmt.Errorf("%s is not a tool list: write the result of tools/list, or a list of names", file)
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

// KnownSet returns the tool set for a complete list of tools. If the list contains only the name
// that clients see, KnownSet derives the other names of the tool from the configuration. The
// configuration may be nil.
func KnownSet(list []ListedTool, cfg *config.Config) ToolSet {
	owners := policy.Owners(cfg)
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

// LikelyTools returns the tools that the names in rules suggest, for use if no list of tools is
// known. For example, if a configuration contains a server "gh", a rule for "gh_push" or "gh.push"
// suggests that this server has a tool "push". LikelyTools also adds a tool "push" of every other
// server, because these servers might have one too.
func LikelyTools(cfg *config.Config, result *policy.Result) ToolSet {
	if cfg == nil || result.Policy == nil {
		return ToolSet{}
	}
	owners := policy.Owners(cfg)
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

// likely converts a list of tools that might not exist to a [ToolSet]. The rules suggest the tools
// at the start of the list, and named is the number of these tools. All other tools are marked as
// supposed, because no claim may depend on their existence.
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

// CallsUnder returns a function that creates a call to the tool with the given name. The call has
// all names of the tool, for example "gh_push" and "gh.push" for the tool "push" of the server
// "gh". If the configuration is nil, a server's tool has only one name.
func CallsUnder(cfg *config.Config) func(tool string) gate.Call {
	owners := policy.Owners(cfg)
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
