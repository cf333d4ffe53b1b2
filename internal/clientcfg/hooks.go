package clientcfg

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// Hooks are those of an agent: the file that has them, and the entries that run petrigate.
type Hooks struct {
	Agent  string // as petrigate hook has it
	Client string // the name of the client
	Title  string
	// Open says what petrigate cannot keep from passing, whatever is in the file.
	Open []string

	files func(System) []string
	// beside are files of a project, in the present folder, that can switch hooks off as well.
	beside []string
	near   string     // such a file next to that of the hooks; "": there is none
	off    [][]string // where a file has what switches hooks off: the path, and the value at its end
	events []hookEvent
	flat   bool // a hook stands in the list of its event itself, and not in a group
	// closed is the member of a hook before a call that refuses the call where the hook fails; none: the
	// agent knows no such member, and the command does it, where a shell runs it that can.
	closed splice.Member
	milli  bool // time-outs are in milliseconds
	url    bool // a hook can be at a URL
	typed  bool // a hook says that it is a command
	wait   int  // seconds for a hook before a call
	own    splice.Object
}

// A hookEvent is an event that petrigate is told of.
type hookEvent struct {
	name   string
	before bool   // a call that can be refused
	match  string // the tools; "": all
}

// AllHooks returns the agents whose hooks are files.
func AllHooks() []Hooks {
	const others = "^(?!MCP:)"
	const slow = "a hook that takes longer than its time-out lets the call pass, and on Windows one that fails does"
	on := func(before string, after ...string) (all []hookEvent) {
		all = append(all, hookEvent{name: before, before: true})
		for _, name := range after {
			all = append(all, hookEvent{name: name})
		}
		return all
	}
	return []Hooks{
		{
			Agent: "claude-code", Client: "claude-code", Title: "Claude Code", wait: 60, url: true, typed: true,
			files: func(s System) []string {
				if dir := s.env("CLAUDE_CONFIG_DIR"); dir != "" {
					return []string{s.path(dir, "settings.json")}
				}
				return []string{s.path(s.Home, ".claude/settings.json")}
			},
			beside: []string{".claude/settings.json", ".claude/settings.local.json"}, off: [][]string{{"disableAllHooks", "true"}},
			closed: splice.Member{Key: "onFailure", Value: "block"},
			events: on("PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd"),
			Open:   []string{"before version 2.1.295 a hook that fails lets the call pass", "@file mentions run no hook"},
		},
		{
			Agent: "codex", Client: "codex", Title: "Codex", wait: 60, typed: true,
			files: func(s System) []string {
				if dir := s.env("CODEX_HOME"); dir != "" {
					return []string{s.path(dir, "hooks.json")}
				}
				return []string{s.path(s.Home, ".codex/hooks.json")}
			},
			near: "config.toml", beside: []string{".codex/config.toml"}, off: [][]string{{"features", "hooks", "false"}, {"features", "codex_hooks", "false"}},
			events: on("PreToolUse", "PostToolUse", "Stop"),
			Open:   []string{"Codex leaves out a hook that you have not trusted: type /hooks in codex, and trust it", slow, "what is typed into a program that runs (write_stdin) has no hook"},
		},
		{
			Agent: "gemini-cli", Client: "gemini", Title: "Gemini CLI", wait: 60, milli: true, typed: true,
			beside: []string{".gemini/settings.json"}, off: [][]string{{"hooksConfig", "enabled", "false"}, {"tools", "enableHooks", "false"}},
			files: below(".gemini/settings.json"), events: on("BeforeTool", "AfterTool", "SessionEnd"),
			Open: []string{slow},
		},
		{
			Agent: "cursor", Client: "cursor", Title: "Cursor", wait: 60, flat: true,
			files: below(".cursor/hooks.json"), closed: splice.Member{Key: "failClosed", Value: true},
			events: []hookEvent{{"preToolUse", true, others}, {"postToolUse", false, others}, {"postToolUseFailure", false, others}, {"sessionEnd", false, ""}},
			own:    splice.Object{{Key: "version", Value: 1}},
			Open:   []string{"MCP tools that do not come through petrigate are not seen: Cursor does not say of which server they are"},
		},
		{
			Agent: "vscode", Client: "vscode", Title: "VS Code", wait: 30, flat: true, typed: true,
			files:  inFolder(".github", "hooks", "petrigate.json"),
			events: on("PreToolUse", "PostToolUse", "Stop"),
			Open:   []string{slow, "VS Code ignores matchers: the hook sees every tool"},
		},
	}
}

// inFolder gives the file that is at a path below the present folder, which is that of a project.
func inFolder(parts ...string) func(System) []string {
	return func(System) []string {
		path := filepath.Join(parts...)
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		return []string{path}
	}
}

// HooksOf returns the hooks of a client; false: petrigate knows none.
func HooksOf(client string) (Hooks, bool) {
	all := AllHooks()
	i := slices.IndexFunc(all, func(h Hooks) bool { return h.Client == client })
	if i < 0 {
		return Hooks{}, false
	}
	return all[i], true
}

// File is the file of the hooks, as that of a client of its own.
func (h Hooks) File() Client {
	return Client{Name: h.Client + "-hooks", Title: h.Title, Format: splice.JSON, files: h.files, place: splice.Place{Path: []string{"hooks"}}}
}

// ByURL reports whether a hook can be at a URL.
func (h Hooks) ByURL() bool { return h.url }

// New is the text of a file that is not there yet.
func (h Hooks) New() []byte {
	if h.own == nil {
		return nil
	}
	return []byte("{\n  \"version\": 1\n}\n")
}

// Items are the entries that run petrigate.
func (h Hooks) Items(s System, l Launch) (all []splice.Item) {
	for _, e := range h.events {
		hook := h.hook(s, l, e)
		if e.match != "" {
			hook = append(hook, splice.Member{Key: "matcher", Value: e.match})
		}
		if !h.flat {
			hook = splice.Object{{Key: "hooks", Value: []splice.Object{hook}}}
		}
		all = append(all, splice.Item{List: e.name, Value: hook})
	}
	return all
}

func (h Hooks) hook(s System, l Launch, e hookEvent) (o splice.Object) {
	switch {
	case l.URL != "" && h.url:
		o = splice.Object{{Key: "type", Value: "http"}, {Key: "url", Value: l.URL + "/hook/" + h.Agent}}
		if len(l.Headers) > 0 {
			o = append(o, splice.Member{Key: "headers", Value: l.Headers}, splice.Member{Key: "allowedEnvVars", Value: []string{TokenVariable}})
		}
	default:
		if h.typed {
			o = splice.Object{{Key: "type", Value: "command"}}
		}
		command := CommandLine(s, append([]string{l.Command, "hook", h.Agent}, l.Args...))
		if e.before && h.byShell(s) {
			command = CommandLine(s, []string{"sh", "-c", command + orRefuse})
		}
		o = append(o, splice.Member{Key: "command", Value: command})
	}
	seconds := 10
	if e.before {
		seconds = h.wait
	}
	if h.milli {
		seconds *= 1000
	}
	o = append(o, splice.Member{Key: "timeout", Value: seconds})
	if e.before && h.closed.Key != "" {
		o = append(o, h.closed)
	}
	return o
}

// orRefuse follows a command whose failure shall refuse the call. An agent that has no member for that
// heeds the exit code 2 if there is a reason on stderr; after a refusal that has its own, this one adds nothing new.
const orRefuse = ` || { echo "The call was not made." >&2; exit 2; }`

// byShell reports whether the command of a hook before a call refuses the call where it fails.
func (h Hooks) byShell(s System) bool { return h.closed.Key == "" && s.OS != "windows" }

// TokenVariable is the variable with the token for hooks at a URL.
const TokenVariable = "PETRIGATE_TOKEN"

// CommandLine quotes words for the shell of a system.
func CommandLine(s System, words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		plain := !strings.ContainsFunc(word, func(r rune) bool {
			return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:@+=,", r) && (r != '\\' || s.OS != "windows")
		})
		switch {
		case plain && word != "":
			quoted[i] = word
		case s.OS == "windows":
			quoted[i] = `"` + word + `"`
		default:
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// A Hook is one hook in a file that runs petrigate.
type Hook struct {
	Event  string
	URL    string // "": it is a command
	Before bool   // it is one before a call
	Closed bool   // a call is refused where it fails
	Narrow bool   // it is not run for each of the calls that it should be, or nobody waits for its answer

	command string
}

// Asks reports whether a hook may ask a proxy with this configuration. One at a URL asks the proxy that listens there, and
// one that names no configuration the only one.
func (t Hook) Asks(s System, config string) bool {
	_, rest, named := strings.Cut(t.command, " --config ")
	if t.URL != "" || !named {
		return true
	}
	word := CommandLine(s, []string{config})
	for _, w := range []string{word, strings.ReplaceAll(word, "'", `'\''`)} { // by itself, or within sh -c
		if after, ok := strings.CutPrefix(rest, w); ok && (after == "" || strings.ContainsAny(after[:1], " '")) {
			return true
		}
	}
	return false
}

// Ours reports whether an entry of a list runs petrigate for this agent. One that connect has written
// names a configuration, whatever the program is called.
func (h Hooks) Ours(v any) bool {
	fields, _ := v.(map[string]any)
	if url, _ := fields["url"].(string); strings.HasSuffix(url, "/hook/"+h.Agent) {
		return true
	}
	command, _ := fields["command"].(string)
	program, rest, found := strings.Cut(command, " hook ")
	agent, _, _ := strings.Cut(rest, " ")
	program = strings.ToLower(strings.Trim(program, `'"\ `))
	base := program[strings.LastIndexAny(program, `/\`)+1:]
	return found && agent == h.Agent && (strings.HasPrefix(base, "petrigate") || strings.Contains(rest, " --config "))
}

// Installed are the hooks in a file that run petrigate, those of the events that it wants.
func (h Hooks) Installed(d *splice.Document) (all []Hook) {
	for _, e := range h.events {
		for _, v := range d.List("hooks", e.name) {
			inner := []any{v}
			group, _ := v.(map[string]any)
			if group["hooks"] != nil {
				inner, _ = group["hooks"].([]any)
			}
			for _, v := range inner {
				if h.Ours(v) {
					fields, _ := v.(map[string]any)
					url, _ := fields["url"].(string)
					command, _ := fields["command"].(string)
					all = append(all, Hook{e.name, url, e.before, h.isClosed(v), e.isNarrow(group) || e.isNarrow(fields), command})
				}
			}
		}
	}
	return all
}

// isNarrow reports whether a group of hooks, or a hook, is not for all tools that the event is for, or runs
// beside the call.
func (e hookEvent) isNarrow(fields map[string]any) bool {
	match, _ := fields["matcher"].(string)
	return !slices.Contains([]string{"", "*", ".*", e.match}, match) || fields["if"] != nil || fields["async"] == true || fields["asyncRewake"] == true
}

// Beside are the files that can switch the hooks in a file off as well: those of a project, in the present folder,
// and one of the agent next to that file.
func (h Hooks) Beside(file string) []string {
	if h.near == "" {
		return h.beside
	}
	return append([]string{filepath.Join(filepath.Dir(file), h.near)}, h.beside...)
}

// Off returns the setting of a file that switches all hooks of the agent off; empty: none does.
func (h Hooks) Off(d *splice.Document) string {
	for _, path := range h.off {
		last := len(path) - 1
		if v := d.At(path[:last]...); v != nil && fmt.Sprint(v) == path[last] {
			return strings.Join(path[:last], ".") + ": " + path[last]
		}
	}
	return ""
}

func (h Hooks) isClosed(v any) bool {
	fields, _ := v.(map[string]any)
	if h.closed.Key == "" {
		command, _ := fields["command"].(string)
		return strings.Contains(command, orRefuse)
	}
	return fields[h.closed.Key] == h.closed.Value
}

// CanClose reports whether a hook on that system can refuse a call where it fails.
func (h Hooks) CanClose(s System) bool { return h.closed.Key != "" || h.byShell(s) }

// ClosesAll reports whether the agent itself refuses a call whose hook fails, in whatever way.
func (h Hooks) ClosesAll() bool { return h.closed.Key != "" }

// Missing are the events that a file has no hook of ours for.
func (h Hooks) Missing(there []Hook) (names []string) {
	for _, e := range h.events {
		if !slices.ContainsFunc(there, func(t Hook) bool { return t.Event == e.name }) {
			names = append(names, e.name)
		}
	}
	return names
}
