package clientcfg

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/list"
)

// Hooks describes the configuration of an agent's hooks: which files contain them, and which
// entries make the agent run petrigate.
type Hooks struct {
	Agent  string // name of the agent, as an argument of petrigate hook
	Client string
	Title  string
	// Open lists the kinds of calls that petrigate cannot stop even if all of its hooks are
	// installed.
	Open []string
	// New is the content of a new hooks file. It may be empty.
	New string

	files func(System) []string
	// beside lists project files that can also disable hooks. Their paths are relative to the
	// current directory.
	beside  []string
	sibling string     // another file that can disable hooks, next to the hooks file; may be empty
	off     [][]string // settings that disable hooks; each consists of the keys on the path to the setting, followed by the value that disables hooks
	events  []hookEvent
	flat    bool // whether the list for an event contains hooks instead of groups of hooks
	// failClosed is a member of a hook's entry. It makes the agent refuse a call if the hook that
	// runs before the call fails. If the agent does not support such a member, the hook's command
	// itself must refuse the call, which is possible only in some shells.
	failClosed splice.Member
	milli      bool // whether timeouts are in milliseconds
	url        bool // whether hooks can be URLs
	typed      bool // whether hooks have a "type" member
	wait       int  // timeout of pre-call hooks, in seconds
}

// A hookEvent is an event that the agent must report to petrigate.
type hookEvent struct {
	name   string
	before bool   // whether the agent reports the event before a call, which can then be refused
	match  string // pattern that selects the tools whose calls are reported; empty for all tools
}

// AllHooks returns the hooks of all agents that configure hooks in files.
func AllHooks() []Hooks {
	const others = "^(?!MCP:)"
	const slow = "a hook that exceeds its timeout lets the call pass, and so does a failing hook on Windows"
	on := func(before string, after ...string) []hookEvent {
		reports := list.Map(after, func(name string) hookEvent { return hookEvent{name: name} })
		return append([]hookEvent{{name: before, before: true}}, reports...)
	}
	all := []Hooks{
		{
			Agent: "claude-code", wait: 60, url: true, typed: true,
			files:  inDirectory("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
			beside: []string{".claude/settings.json", ".claude/settings.local.json"}, off: [][]string{{"disableAllHooks", "true"}},
			failClosed: splice.Member{Key: "onFailure", Value: "block"},
			events:     on("PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd"),
			Open:       []string{"before version 2.1.295, a failing hook lets the call pass", "@file mentions do not run hooks"},
		},
		{
			Agent: "codex", wait: 60, typed: true,
			files:   inDirectory("CODEX_HOME", ".codex", "hooks.json"),
			sibling: "config.toml", beside: []string{".codex/config.toml"}, off: [][]string{{"features", "hooks", "false"}, {"features", "codex_hooks", "false"}},
			events: on("PreToolUse", "PostToolUse", "Stop"),
			Open:   []string{"Codex does not run a hook until you trust it: type /hooks in codex, and trust it", slow, "input to a running program (write_stdin) has no hook"},
		},
		{
			Agent: "gemini-cli", wait: 60, milli: true, typed: true,
			beside: []string{".gemini/settings.json"}, off: [][]string{{"hooksConfig", "enabled", "false"}, {"tools", "enableHooks", "false"}},
			files: inHome(".gemini/settings.json"), events: on("BeforeTool", "AfterTool", "SessionEnd"),
			Open: []string{slow},
		},
		{
			Agent: "cursor", wait: 60, flat: true,
			files: inHome(".cursor/hooks.json"), failClosed: splice.Member{Key: "failClosed", Value: true},
			events: []hookEvent{{"preToolUse", true, others}, {"postToolUse", false, others}, {"postToolUseFailure", false, others}, {"sessionEnd", false, ""}},
			New:    "{\n  \"version\": 1\n}\n",
			Open:   []string{"petrigate does not see MCP tools that bypass it: Cursor does not name their server"},
		},
		{
			Agent: "vscode", wait: 30, flat: true, typed: true,
			files:  inProject,
			events: on("PreToolUse", "PostToolUse", "Stop"),
			Open:   []string{slow, "VS Code ignores matchers: the hook sees every tool"},
		},
	}
	for i := range all {
		a, _ := agenttool.Find(all[i].Agent)
		all[i].Client, all[i].Title = a.Client, a.Title
	}
	return all
}

// inProject returns the path of VS Code's hooks file in the current directory, which must be the
// project's directory.
func inProject(System) []string {
	path := filepath.Join(".github", "hooks", "petrigate.json")
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return []string{path}
}

// HooksOf returns the hooks of the named client. It returns false if the client has no hooks or
// petrigate does not support them.
func HooksOf(client string) (Hooks, bool) {
	for _, h := range AllHooks() {
		if h.Client == client {
			return h, true
		}
	}
	return Hooks{}, false
}

// File returns a [Client] for the hooks file, so that the file can be found and edited like that of
// any other client.
func (h Hooks) File() Client {
	return Client{Name: h.Client + "-hooks", Title: h.Title, Format: splice.JSON, Files: h.files, Place: splice.Place{Path: []string{"hooks"}}}
}

// ByURL reports whether the agent's hooks can be URLs.
func (h Hooks) ByURL() bool { return h.url }

// Items returns the hook entries that make the agent run petrigate.
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
		if e.before && h.shellRefuses(s) {
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
	if e.before && h.failClosed.Key != "" {
		o = append(o, h.failClosed)
	}
	return o
}

// orRefuse is appended to the command of a hook that runs before a call, for agents without a
// failClosed member, so that they refuse the call if the command fails. It is not used on Windows.
// Such an agent refuses a call if its hook exits with code 2 and writes a reason to stderr. If the
// command has already refused the call, the additional text is harmless.
const orRefuse = ` || { echo "The call was not made." >&2; exit 2; }`

// shellRefuses reports whether the shell command of a pre-call hook itself refuses the call if the
// program fails.
func (h Hooks) shellRefuses(s System) bool { return h.failClosed.Key == "" && s.OS != "windows" }

// TokenVariable is the environment variable that contains the token for hooks that are URLs.
const TokenVariable = "PETRIGATE_TOKEN"

// CommandLine joins words into a command line for the system's shell, quoting them where needed.
func CommandLine(s System, words []string) string {
	quoted := list.Map(words, func(word string) string {
		plain := !strings.ContainsFunc(word, func(r rune) bool {
			return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:@+=,", r) && (r != '\\' || s.OS != "windows")
		})
		switch {
		case plain && word != "":
			return word
		case s.OS == "windows":
			return `"` + word + `"`
		}
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	})
	return strings.Join(quoted, " ")
}

// A Hook is an installed hook that runs petrigate.
type Hook struct {
	Event  string
	URL    string // URL of the hook; empty if the hook is a command
	Before bool   // whether the hook runs before a call
	Closed bool   // whether the call is refused if the hook fails
	Narrow bool   // whether the hook misses some calls that it should cover, or the agent proceeds without waiting for its answer

	command string
}

// Asks reports whether the hook may send its events to a proxy that uses the given configuration.
// This includes hooks with a URL, which use any proxy that listens there, and hooks without a
// configuration, which use the only running proxy.
func (t Hook) Asks(s System, config string) bool {
	_, rest, named := strings.Cut(t.command, " --config ")
	if t.URL != "" || !named {
		return true
	}
	word := CommandLine(s, []string{config})
	for _, w := range []string{word, strings.ReplaceAll(word, "'", `'\''`)} { // the path may be a word of the command, or part of the quoted argument of sh -c
		if after, ok := strings.CutPrefix(rest, w); ok && (after == "" || strings.ContainsAny(after[:1], " '")) {
			return true
		}
	}
	return false
}

// Ours reports whether v, an element of a hook list, runs petrigate for this agent. Entries written
// by petrigate connect name a configuration, so Ours recognizes them even if the program has been
// renamed.
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

// Installed returns the hooks in the file that run petrigate. It looks only at the events that
// petrigate needs.
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
					all = append(all, Hook{e.name, url, e.before, h.refusesOnFailure(v), e.isNarrow(group) || e.isNarrow(fields), command})
				}
			}
		}
	}
	return all
}

// isNarrow reports whether a hook, or a group of hooks, covers only some of the tools or runs
// concurrently with the call.
func (e hookEvent) isNarrow(fields map[string]any) bool {
	match, _ := fields["matcher"].(string)
	return !slices.Contains([]string{"", "*", ".*", e.match}, match) || fields["if"] != nil || fields["async"] == true || fields["asyncRewake"] == true
}

// Beside returns the paths of other files that can disable the hooks in the given file: another
// file of the agent in the same directory, and project files in the current directory.
func (h Hooks) Beside(file string) []string {
	if h.sibling == "" {
		return h.beside
	}
	return append([]string{filepath.Join(filepath.Dir(file), h.sibling)}, h.beside...)
}

// Off returns the setting in the file that disables all of the agent's hooks, or "" if nothing
// disables them.
func (h Hooks) Off(d *splice.Document) string {
	for _, path := range h.off {
		last := len(path) - 1
		if v := d.At(path[:last]...); v != nil && fmt.Sprint(v) == path[last] {
			return strings.Join(path[:last], ".") + ": " + path[last]
		}
	}
	return ""
}

func (h Hooks) refusesOnFailure(v any) bool {
	fields, _ := v.(map[string]any)
	if h.failClosed.Key == "" {
		command, _ := fields["command"].(string)
		return strings.Contains(command, orRefuse)
	}
	return fields[h.failClosed.Key] == h.failClosed.Value
}

// CanClose reports whether, on the given system, a failure of the hook can cause the agent to
// refuse the call.
func (h Hooks) CanClose(s System) bool { return h.failClosed.Key != "" || h.shellRefuses(s) }

// ClosesAll reports whether the agent itself refuses a call after any failure of its hook.
func (h Hooks) ClosesAll() bool { return h.failClosed.Key != "" }

// Missing returns the names of the events that petrigate needs but that none of the given installed
// hooks reports.
func (h Hooks) Missing(there []Hook) []string {
	installed := list.Map(there, func(t Hook) string { return t.Event })
	names := list.Map(h.events, func(e hookEvent) string { return e.name })
	return list.Filter(names, func(name string) bool { return !slices.Contains(installed, name) })
}
