package clientcfg

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// guards finds the restrictions of a client outside the entries of servers. Each field may be nil.
type guards struct {
	// read returns the restrictions in a file.
	read func(d *splice.Document) []guard
	// closed returns the key of the file that disables a server at a place, or "".
	closed func(d *splice.Document, at splice.Place, name string) (key string)
	// beside returns other files that may contain restrictions.
	beside func(s System, file string) []string
	// closedBeside returns the key of such a file that disables a server of file, or "".
	closedBeside func(d *splice.Document, file, name string) (key string)
}

// A guard is a restriction in terms of the client.
type guard struct {
	where, value string
	tool         string // tool name used by the client
	deny         bool   // refuse calls; otherwise ask a person
	split        string // separator between server and tool
	prefix       string // prefix of the server
}

// rule returns the rule equivalent to a guard, or "" if the guard does not apply to tools of the
// servers.
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
	if !plainTool.MatchString(found) {
		return ""
	}
	return ruleFor(found, g.deny)
}

// geminiGuards reads settings.json: allowed and excluded servers, and excluded tools.
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
			for _, tool := range texts(d.List(path...)) {
				all = append(all, guard{where: strings.Join(path, "."), value: tool, tool: strings.TrimPrefix(tool, "mcp_"), deny: true, split: "__"})
			}
		}
		for i, g := range all { // an unqualified tool name is valid too
			if !strings.Contains(g.tool, "__") {
				all[i].split = ""
			}
		}
		return all
	},
}

// opencodeGuards reads permissions, and disabled tools.
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

// claudeGuards reads permissions in settings.json, and disabled servers of a project.
var claudeGuards = guards{
	beside: func(s System, file string) []string {
		dir := s.env("CLAUDE_CONFIG_DIR")
		if dir == "" {
			dir = s.path(s.Home, ".claude")
		}
		all := []string{s.path(dir, "settings.json")}
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
			for _, tool := range texts(d.List("permissions", key)) {
				all = append(all, guard{where: "permissions." + key, value: tool, tool: tool, deny: key == "deny", split: "__", prefix: "mcp__"})
			}
		}
		return all
	},
}

// closedOfProject returns the key that disables a server of .mcp.json, or "". One list in the
// settings of the user, the project or this checkout is sufficient; enabledMcpjsonServers and
// enableAllProjectMcpServers do not override it. Claude Code asks about a server on no list, so
// such a server is enabled. Servers disabled with /mcp are recorded in .claude.json.
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

// claudeName normalizes the name of a server as Claude Code does for comparisons.
func claudeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// gooseGuards reads the mode, which may require approval.
var gooseGuards = guards{read: func(d *splice.Document) (all []guard) {
	if mode, _ := d.At("GOOSE_MODE").(string); mode == "approve" || mode == "smart_approve" {
		all = append(all, guard{where: "GOOSE_MODE", value: mode, tool: "*"})
	}
	return all
}}

// claudeFiles returns the file of Claude Code with the user's servers and the settings of projects.
func claudeFiles(s System) []string {
	if dir := s.env("CLAUDE_CONFIG_DIR"); dir != "" {
		return []string{s.path(dir, ".claude.json")}
	}
	return []string{s.path(s.Home, ".claude.json")}
}
