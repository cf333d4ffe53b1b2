package clientcfg

import (
	"cmp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// guards holds functions that find a client's restrictions outside its server list. Each of them
// may be nil.
type guards struct {
	// read returns the restrictions in the client's file.
	read func(d *splice.Document) []guard
	// closed returns the key in the file that disables the named server, or "" if the server is
	// enabled.
	closed func(d *splice.Document, at splice.Place, name string) (key string)
	// beside returns the paths of other files that may contain restrictions.
	beside func(s System, file string) []string
	// closedBeside returns the key that disables the named server in another file of the client, or
	// "" if the server is enabled.
	closedBeside func(d *splice.Document, file, name string) (key string)
}

// A guard is a restriction on tool calls, as found in a client's file, before its conversion to a
// rule.
type guard struct {
	where, value string
	tool         string // tool name or pattern in the client's syntax
	deny         bool   // whether the client refuses the calls; otherwise, it asks a person
	split        string // separator between the server name and the tool name
	prefix       string // text that precedes the server name in the tool name
}

// rule converts the guard to a rule in petrigate's syntax. servers maps the client's server names
// to those in petrigate's configuration. If the guard does not apply to tools of these servers,
// rule returns "".
func (g guard) rule(servers map[string]string) string {
	name, ok := strings.CutPrefix(g.tool, g.prefix)
	if !ok {
		return ""
	}
	found, longest := "", 0
	for s, ours := range servers {
		tool, under := strings.CutPrefix(name, s+g.split)
		switch {
		case name == s && g.prefix != "":
			found, longest = ours+".*", len(s)
		case under && g.split != "" && tool != "" && len(s) > longest:
			found, longest = ours+"."+tool, len(s)
		}
	}
	if found == "" && (strings.ContainsRune(name, '*') || g.split == "") {
		found = name
	}
	if !IsPlainTool(found) {
		return ""
	}
	return RuleFor(found, g.deny)
}

// geminiGuards reads the allowed servers, excluded servers and excluded tools in a settings.json of
// Gemini CLI.
var geminiGuards = guards{
	closed: func(d *splice.Document, _ splice.Place, name string) string {
		for _, path := range [][]string{{"mcp", "excluded"}, {"excludeMCPServers"}} {
			if slices.Contains(d.List(path...), any(name)) {
				return strings.Join(path, ".")
			}
		}
		for _, path := range [][]string{{"mcp", "allowed"}, {"allowMCPServers"}} {
			if list := d.List(path...); len(list) > 0 && !slices.Contains(list, any(name)) {
				return strings.Join(path, ".")
			}
		}
		return ""
	},
	read: func(d *splice.Document) (all []guard) {
		for _, path := range [][]string{{"tools", "exclude"}, {"excludeTools"}} {
			for _, tool := range splice.Texts(d.List(path...)) {
				g := guard{where: strings.Join(path, "."), value: tool, tool: strings.TrimPrefix(tool, "mcp_"), deny: true}
				if strings.Contains(g.tool, "__") { // a tool name without a server is also valid
					g.split = "__"
				}
				all = append(all, g)
			}
		}
		return all
	},
}

// opencodeGuards reads OpenCode's permissions and disabled tools.
var opencodeGuards = guards{read: func(d *splice.Document) (all []guard) {
	add := func(where, tool string, v any) {
		if word, ok := v.(string); ok && (word == "ask" || word == "deny") {
			all = append(all, guard{where: where, value: word, tool: tool, deny: word == "deny", split: "_"})
		}
	}
	add("permission", "*", d.At("permission"))
	for _, tool := range d.Keys("permission") {
		where := "permission." + tool
		add(where, tool, d.At("permission", tool))
		for _, pattern := range d.Keys("permission", tool) {
			add(where+"."+pattern, tool, d.At("permission", tool, pattern))
		}
	}
	for _, tool := range d.Keys("tools") {
		if d.At("tools", tool) == false {
			all = append(all, guard{where: "tools." + tool, value: "false", tool: tool, deny: true, split: "_"})
		}
	}
	return all
}}

// claudeGuards reads the permissions in Claude Code's settings.json, and the servers disabled for a
// project.
var claudeGuards = guards{
	beside: func(s System, file string) []string {
		all := []string{s.path(s.directory("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")}
		if project, ok := strings.CutSuffix(file, ".mcp.json"); ok {
			all = append(all, project+s.path(".claude", "settings.json"), project+s.path(".claude", "settings.local.json"))
			all = append(all, claudeFiles(s)...)
		}
		return all
	},
	closedBeside: closedOfProject,
	closed: func(d *splice.Document, at splice.Place, name string) string {
		project := at.Path[:len(at.Path)-1]
		if path := append(slices.Clone(project), "disabledMcpServers"); slices.Contains(d.List(path...), any(name)) {
			return strings.Join(path, ".")
		}
		return ""
	},
	read: func(d *splice.Document) (all []guard) {
		for _, key := range []string{"deny", "ask"} {
			for _, tool := range splice.Texts(d.List("permissions", key)) {
				all = append(all, guard{where: "permissions." + key, value: tool, tool: tool, deny: key == "deny", split: "__", prefix: "mcp__"})
			}
		}
		return all
	},
}

// closedOfProject returns the key in the settings d that disables a server of a project, or "" if d
// does not disable it. file is the path of the project's .mcp.json, and name is the name of the
// server.
func closedOfProject(d *splice.Document, file, name string) string {
	project, ok := strings.CutSuffix(file, ".mcp.json")
	if !ok {
		return ""
	}
	same := func(other any) bool {
		text, ok := other.(string)
		return ok && claudeName(text) == claudeName(name)
	}
	of := []string{"projects", strings.TrimRight(project, `/\`)}
	for _, path := range [][]string{{"disabledMcpjsonServers"}, append(of, "disabledMcpjsonServers"), append(slices.Clone(of), "disabledMcpServers")} {
		if slices.ContainsFunc(d.List(path...), same) {
			return strings.Join(path, ".")
		}
	}
	return ""
}

// claudeName normalizes a server name as Claude Code does before comparing names.
func claudeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// gooseGuards reads Goose's mode setting. Some modes require approval for calls.
var gooseGuards = guards{read: func(d *splice.Document) (all []guard) {
	if mode, _ := d.At("GOOSE_MODE").(string); mode == "approve" || mode == "smart_approve" {
		all = append(all, guard{where: "GOOSE_MODE", value: mode, tool: "*"})
	}
	return all
}}

// claudeFiles returns the path of Claude Code's file with the user's servers and the settings of
// all projects.
func claudeFiles(s System) []string {
	return []string{s.path(cmp.Or(s.env("CLAUDE_CONFIG_DIR"), s.Home), ".claude.json")}
}
