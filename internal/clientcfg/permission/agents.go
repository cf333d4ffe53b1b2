package permission

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// claude reads Claude Code's permissions for the machine, the user and the project.
func claude(f files) []Line {
	managed := "/etc/claude-code/managed-settings.json"
	if f.OS == "darwin" {
		managed = "/Library/Application Support/ClaudeCode/managed-settings.json"
	}
	paths := []string{managed, f.home("CLAUDE_CONFIG_DIR", ".claude", "settings.json"), f.in(".claude", "settings.json"), f.in(".claude", "settings.local.json")}
	lists := []jsonList{{"permissions.deny", Deny}, {"permissions.ask", Ask}, {"permissions.allow", Allow}}
	return f.lists(paths, lists, (*Line).claude)
}

// A jsonList is a permission list in a JSON file. The decision applies to all calls that match an
// element of the list.
type jsonList struct {
	key      string // keys on the path to the list, joined by dots
	decision Decision
}

// lists returns a [Line] for each string in the permission lists of the given JSON files. The
// callback parses the string and sets the remaining fields of the Line.
func (f files) lists(paths []string, lists []jsonList, understand func(*Line, string)) (all []Line) {
	for _, path := range paths {
		all = append(all, f.read(path, splice.JSON, func(d *splice.Document) (all []Line) {
			for _, list := range lists {
				for _, text := range splice.Texts(d.List(strings.Split(list.key, ".")...)) {
					l := Line{Where: list.key, Text: text, Decision: list.decision}
					understand(&l, text)
					all = append(all, l)
				}
			}
			return all
		})...)
	}
	return all
}

func (l *Line) claude(text string) {
	tool, inside, has := call(text)
	domain, web := strings.CutPrefix(inside, "domain:")
	server, mcp := strings.CutPrefix(text, "mcp__")
	switch {
	case mcp:
		name, tool, _ := strings.Cut(server, "__")
		l.setMCP(name, tool)
	case tool == "Bash" && has:
		l.setCommand(inside, true)
	case tool == "Bash":
		l.shell = true
	case tool == "Read" && has:
		l.reads = inside
	case slices.Contains([]string{"Edit", "Write", "MultiEdit"}, tool) && has:
		l.edits = inside
	case web:
		l.domain = domain
	case has:
		l.why = "petrigate does not understand the text in the brackets"
	default:
		l.tool = tool
	}
}

// cursor reads Cursor's permissions. A permission for a shell command applies to the command with
// any further arguments.
func cursor(f files) []Line {
	paths := []string{f.home("CURSOR_CONFIG_DIR", ".cursor", "cli-config.json"), f.in(".cursor", "cli.json")}
	return f.lists(paths, []jsonList{{"permissions.deny", Deny}, {"permissions.allow", Allow}}, (*Line).cursor)
}

func (l *Line) cursor(text string) {
	tool, inside, has := call(text)
	server, name, _ := strings.Cut(inside, ":")
	switch {
	case !has:
		l.why = "it does not have the form Shell(...), Read(...), Write(...) or Mcp(...)"
	case tool == "Shell":
		l.setCommand(strings.Replace(inside, ":", " ", 1), false)
	case tool == "Read":
		l.reads = inside
	case tool == "Write":
		l.edits = inside
	case tool == "Mcp" && server != "*":
		l.setMCP(server, name)
	case tool == "Mcp":
		l.tool = name
	default:
		l.why = tool + " is not a tool that petrigate knows"
	}
}

// gemini reads the lists in Gemini CLI's settings.json and in its policy files.
func gemini(f files) []Line {
	lists := []jsonList{{"tools.exclude", Deny}, {"excludeTools", Deny}, {"tools.allowed", Allow}, {"allowedTools", Allow}, {"tools.core", Allow}, {"coreTools", Allow}}
	all := f.lists([]string{f.home("", ".gemini", "settings.json"), f.in(".gemini", "settings.json")}, lists, (*Line).gemini)
	policies, _ := filepath.Glob(f.home("", ".gemini", "policies", "*.toml")) // cannot fail: the pattern is valid
	for _, path := range policies {
		all = append(all, f.read(path, splice.TOML, geminiPolicy)...)
	}
	return all
}

func (l *Line) gemini(text string) {
	tool, inside, has := call(text)
	server, mcp := strings.CutPrefix(strings.TrimPrefix(text, "mcp_"), "mcp__")
	before, name, qualified := strings.Cut(server, "__")
	shell := slices.Contains([]string{"run_shell_command", "ShellTool"}, tool)
	switch {
	case shell && has:
		l.setCommand(inside, false)
	case shell:
		l.shell = true
	case mcp || qualified:
		l.setMCP(before, name)
	case has:
		l.why = "petrigate does not understand the text in the brackets"
	default:
		l.tool = tool
	}
}

// geminiPolicy reads the rules in a policy file of Gemini CLI.
func geminiPolicy(d *splice.Document) (all []Line) {
	decisions := map[string]Decision{"allow": Allow, "deny": Deny, "ask_user": Ask}
	for _, v := range d.List("rule") {
		rule, _ := v.(map[string]any)
		src, _ := json.Marshal(rule) // cannot fail: the value was decoded from a file
		tool, _ := rule["toolName"].(string)
		word, _ := rule["decision"].(string)
		l := Line{Where: "rule", Text: string(src), Decision: decisions[word]}
		_, pattern := rule["commandRegex"]
		_, args := rule["argsPattern"]
		prefixes := splice.Texts(rule["commandPrefix"])
		switch {
		case l.Decision == "" || tool == "" || pattern || args:
			l.why = "it does not name a single tool, its decision is unknown, or it contains a regular expression"
			all = append(all, l)
		case len(prefixes) == 0:
			l.gemini(tool)
			all = append(all, l)
		}
		for _, prefix := range prefixes {
			if l.why == "" {
				l := l
				l.setCommand(prefix, false)
				all = append(all, l)
			}
		}
	}
	return all
}

// vscode reads the commands that VS Code runs in its terminal without asking the user.
func vscode(f files) (all []Line) {
	const key = "chat.tools.terminal.autoApprove"
	user := f.home("XDG_CONFIG_HOME", ".config", "Code", "User", "settings.json")
	switch f.OS {
	case "darwin":
		user = f.home("", "Library", "Application Support", "Code", "User", "settings.json")
	case "windows":
		user = f.home("APPDATA", "AppData/Roaming", "Code", "User", "settings.json")
	}
	for _, path := range []string{user, f.in(".vscode", "settings.json")} {
		all = append(all, f.read(path, splice.JSON, func(d *splice.Document) (all []Line) {
			for _, command := range d.Keys(key) {
				value := d.At(key, command)
				l := Line{Where: key, Text: command, Decision: Ask}
				if object, ok := value.(map[string]any); ok {
					value = object["approve"]
				}
				if value == true {
					l.Decision = Allow
				}
				switch {
				case value == nil:
					l.why = "null overrides another file"
				case strings.HasPrefix(command, "/"):
					l.why = "it is a regular expression"
				default:
					l.setCommand(command, false)
				}
				all = append(all, l)
			}
			return all
		})...)
	}
	return all
}

var prefixRule = regexp.MustCompile(`(?s)prefix_rule\s*\((.*?)\)\s*(?:\n|$)`)

var (
	pattern  = regexp.MustCompile(`(?s)pattern\s*=\s*(\[.*?\])\s*(?:,\s*(?:decision|match|not_match|justification)\s*=|,?\s*$)`)
	decision = regexp.MustCompile(`decision\s*=\s*["'](\w+)["']`)
)

// codex reads Codex's rules, which consist of command prefixes.
func codex(f files) (all []Line) {
	paths, _ := filepath.Glob(f.home("CODEX_HOME", ".codex", "rules", "*.rules")) // cannot fail: the pattern is valid
	more, _ := filepath.Glob(f.in(".codex", "rules", "*.rules"))
	for _, path := range append(paths, more...) {
		src, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = append(all, unreadable(path, err))
		}
		for _, m := range prefixRule.FindAllStringSubmatch(string(src), -1) {
			all = append(all, codexRule(f.short(path)+": prefix_rule", m[1])...)
		}
	}
	return all
}

// codexRule reads the arguments of a prefix_rule, whose pattern lists the first words of a command.
// Each word of the pattern may also be a list of alternatives.
func codexRule(where, body string) (all []Line) {
	l := Line{Where: where, Text: strings.Join(strings.Fields(body), " "), Decision: Allow}
	if m := decision.FindStringSubmatch(body); m != nil {
		l.Decision = map[string]Decision{"allow": Allow, "prompt": Ask, "forbidden": Deny}[m[1]]
	}
	m := pattern.FindStringSubmatch(strings.TrimSpace(body))
	var words []any
	if m == nil || l.Decision == "" || json.Unmarshal([]byte(strings.ReplaceAll(m[1], "'", `"`)), &words) != nil {
		l.why = "petrigate does not understand its pattern or its decision"
		return []Line{l}
	}
	commands := []string{""}
	for _, word := range words {
		var longer []string
		for _, before := range commands {
			for _, choice := range splice.Texts(word) {
				longer = append(longer, strings.TrimSpace(before+" "+choice))
			}
		}
		commands = longer
	}
	for _, command := range commands {
		l := l
		l.setCommand(command, false)
		all = append(all, l)
	}
	return all
}
