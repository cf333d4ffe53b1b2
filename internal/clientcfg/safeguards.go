package clientcfg

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// A Safeguard is what the file of a client says against calls of tools, and import leaves there.
type Safeguard struct {
	Where string `json:"where"`          // the key, or the keys with dots between them
	Value string `json:"value"`          // what it is there
	Rule  string `json:"rule,omitempty"` // that says the same; "": the client keeps it, for its own tools
}

// guards finds safeguards of a client outside its entries.
type guards struct {
	// read finds those of a file.
	read func(d *splice.Document) []guard
	// closed reports the servers at a place that the file switches off, and the key that does it.
	closed func(d *splice.Document, at splice.Place, name string) (key string)
	// beside are further files that have such keys.
	beside func(s System, file string) []string
	// closedBeside is closed for a further file: whether it switches a server of file off.
	closedBeside func(d *splice.Document, file, name string) (key string)
}

// A guard is a safeguard with the name of its tools as the client writes it.
type guard struct {
	where, value string
	tool         string // as the client names it
	deny         bool   // otherwise a person is asked
	split        string // stands between the server and the tool
	prefix       string // stands before the server
}

// Beside returns the further files with the client's safeguards for the servers of a file.
func (c Client) Beside(s System, file string) []string {
	if c.guards.beside == nil {
		return nil
	}
	return c.guards.beside(s, file)
}

// Safeguards are those in a file of a client, for tools of servers. Each has its name in a configuration of ours.
func (c Client) Safeguards(d *splice.Document, servers map[string]string) (all []Safeguard) {
	if c.guards.read == nil {
		return nil
	}
	for _, g := range c.guards.read(d) {
		all = append(all, Safeguard{Where: g.where, Value: g.value, Rule: g.rule(servers)})
	}
	return all
}

// Closed is the key of a file that switches the server of a name off; "": none.
func (c Client) Closed(d *splice.Document, at splice.Place, name string) string {
	if c.guards.closed == nil {
		return ""
	}
	return c.guards.closed(d, at, name)
}

// ClosedBeside is the key of a further file, see [Client.Beside], that switches a server of file off; "": none.
func (c Client) ClosedBeside(d *splice.Document, file, name string) string {
	if c.guards.closedBeside == nil {
		return ""
	}
	return c.guards.closedBeside(d, file, name)
}

// Disable is the server switched off by a key of the client that is not in its entry.
func (s *Server) Disable(key string) {
	if s.Fields == nil || slices.ContainsFunc(s.Fields, func(m splice.Member) bool { return m.Key == "disabled" }) {
		return
	}
	s.Fields = append(s.Fields, splice.Member{Key: "disabled", Value: true})
	s.Closed = key
}

// plainTool is the name of a tool, or a pattern, as a rule has it.
var plainTool = regexp.MustCompile(`^[A-Za-z0-9_.*?-]+$`)

// rule is the rule for a guard; "": it is about no tool of the servers.
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

// ruleFor is the rule that refuses calls of a tool, or has a person asked.
func ruleFor(tool string, deny bool) string {
	if deny {
		return "block " + tool
	}
	return "require human-approval before " + tool
}

// texts are the texts in a list of a file.
func texts(list []any) (all []string) {
	for _, v := range list {
		if text, ok := v.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// geminiGuards are in settings.json: servers that may be used, and tools that may not.
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
		for i, g := range all { // the name of the tool alone is good too
			if !strings.Contains(g.tool, "__") {
				all[i].split = ""
			}
		}
		return all
	},
}

// opencodeGuards are permission, and tools that are switched off.
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

// claudeGuards are permissions of settings.json, and servers of a project that are switched off.
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

// closedOfProject is the key that switches a server of .mcp.json off. In settings, those of the user, the project and this
// checkout, one list is enough, whatever enabledMcpjsonServers and enableAllProjectMcpServers say. About a
// server on no list Claude Code asks, so it is not switched off. What /mcp switches off is in .claude.json.
func closedOfProject(d *splice.Document, file, name string) string {
	project, ok := strings.CutSuffix(file, ".mcp.json")
	if !ok {
		return ""
	}
	same := func(other any) bool {
		text, ok := other.(string)
		return ok && inClaude(text) == inClaude(name)
	}
	of := []string{"projects", strings.TrimRight(project, `/\`)}
	for _, path := range [][]string{{"disabledMcpjsonServers"}, append(of, "disabledMcpjsonServers"), append(slices.Clone(of), "disabledMcpServers")} {
		if slices.ContainsFunc(d.List(path...), same) {
			return strings.Join(path, ".")
		}
	}
	return ""
}

// inClaude is the name of a server as Claude Code compares it.
func inClaude(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// gooseGuards are the mode in which goose asks.
var gooseGuards = guards{read: func(d *splice.Document) (all []guard) {
	if mode, _ := d.At("GOOSE_MODE").(string); mode == "approve" || mode == "smart_approve" {
		all = append(all, guard{where: "GOOSE_MODE", value: mode, tool: "*"})
	}
	return all
}}

// readApproval reads what Codex asks before calls of a server.
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
