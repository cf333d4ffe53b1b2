package clientcfg

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// A Safeguard is a restriction on tool calls in a client's file that import does not carry over.
type Safeguard struct {
	Where string `json:"where"`          // the key, or keys joined by dots
	Value string `json:"value"`          // value of the key
	Rule  string `json:"rule,omitempty"` // equivalent rule; empty: the client itself still enforces the restriction, on its own tools
}

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

// Beside returns the other files with the client's restrictions for the servers of a file.
func (c Client) Beside(s System, file string) []string {
	if c.guards.beside == nil {
		return nil
	}
	return c.guards.beside(s, file)
}

// Safeguards returns the restrictions in a client's file. servers maps the client's names of
// servers to their names in petrigate's configuration, which the rules use.
func (c Client) Safeguards(d *splice.Document, servers map[string]string) (all []Safeguard) {
	if c.guards.read == nil {
		return nil
	}
	for _, g := range c.guards.read(d) {
		all = append(all, Safeguard{Where: g.where, Value: g.value, Rule: g.rule(servers)})
	}
	return all
}

// Closed returns the key of a file that disables the named server, or "".
func (c Client) Closed(d *splice.Document, at splice.Place, name string) string {
	if c.guards.closed == nil {
		return ""
	}
	return c.guards.closed(d, at, name)
}

// ClosedBeside returns the key of another file, see [Client.Beside], that disables a server of
// file, or "".
func (c Client) ClosedBeside(d *splice.Document, file, name string) string {
	if c.guards.closedBeside == nil {
		return ""
	}
	return c.guards.closedBeside(d, file, name)
}

// Disable marks the server as disabled, because of a key of the client outside its entry.
func (s *Server) Disable(key string) {
	if s.Fields == nil || slices.ContainsFunc(s.Fields, func(m splice.Member) bool { return m.Key == "disabled" }) {
		return
	}
	s.Fields = append(s.Fields, splice.Member{Key: "disabled", Value: true})
	s.Closed = key
}

// plainTool matches a tool name or pattern that can be written in a rule.
var plainTool = regexp.MustCompile(`^[A-Za-z0-9_.*?-]+$`)

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

// ruleFor returns the rule that refuses calls of a tool, or requires approval for them.
func ruleFor(tool string, deny bool) string {
	if deny {
		return "block " + tool
	}
	return "require human-approval before " + tool
}

// texts returns the strings in a list.
func texts(list []any) (all []string) {
	for _, v := range list {
		if text, ok := v.(string); ok {
			all = append(all, text)
		}
	}
	return all
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

// readApproval reads the approval modes of a server's tools (Codex).
func (r *reader) readApproval(key string, v any) {
	server := r.to.Name
	modes := map[string]string{}
	if key == "default_tools_approval_mode" {
		modes[key], _ = v.(string)
	}
	tools, _ := v.(map[string]any)
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		fields, _ := tools[tool].(map[string]any)
		modes[fmt.Sprintf("%s.%s.approval_mode", key, tool)], _ = fields["approval_mode"].(string)
	}
	for _, where := range slices.Sorted(maps.Keys(modes)) {
		if modes[where] != "prompt" {
			r.to.Dropped = append(r.to.Dropped, where)
			continue
		}
		tool := "*"
		if where != key {
			tool = strings.TrimSuffix(strings.TrimPrefix(where, key+"."), ".approval_mode")
		}
		r.to.Left = append(r.to.Left, Safeguard{Where: where, Value: "prompt", Rule: ruleFor(server+"."+tool, false)})
	}
}
