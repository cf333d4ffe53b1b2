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
	Config agenttool.Hooks
}

// AllHooks returns the hooks of all agents.
func AllHooks() []Hooks {
	return list.Map(agenttool.All(), func(a agenttool.Agent) Hooks {
		return Hooks{Agent: a.Name, Client: a.Client, Title: a.Title, Config: a.Hooks}
	})
}

// files returns the path of the hooks file, as a list of one element.
func (h Hooks) files(s System) []string {
	f := h.Config.File
	if !f.InProject {
		return []string{s.path(s.directory(f.Variable, f.Directory), f.Name)}
	}
	path := filepath.Join(filepath.FromSlash(f.Directory), f.Name)
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

// File returns a [Client] that describes the hooks file, for use with the functions that find and
// edit clients' files.
func (h Hooks) File() Client {
	return Client{Name: h.Client + "-hooks", Title: h.Title, Format: splice.JSON, Files: h.files, Place: splice.Place{Path: []string{"hooks"}}}
}

// ByURL reports whether the agent's hooks can be URLs.
func (h Hooks) ByURL() bool { return h.Config.URL }

// Items returns the hook entries that make the agent run petrigate.
func (h Hooks) Items(s System, l Launch) (all []splice.Item) {
	for _, e := range h.Config.Configured() {
		hook := h.hook(s, l, e)
		if e.Tools != "" {
			hook = append(hook, splice.Member{Key: "matcher", Value: e.Tools})
		}
		if !h.Config.Flat {
			hook = splice.Object{{Key: "hooks", Value: []splice.Object{hook}}}
		}
		all = append(all, splice.Item{List: e.Name, Value: hook})
	}
	return all
}

func (h Hooks) hook(s System, l Launch, e agenttool.HookEvent) (o splice.Object) {
	switch {
	case l.URL != "" && h.Config.URL:
		o = splice.Object{{Key: "type", Value: "http"}, {Key: "url", Value: l.URL + "/hook/" + h.Agent}}
		if len(l.Headers) > 0 {
			o = append(o, splice.Member{Key: "headers", Value: l.Headers}, splice.Member{Key: "allowedEnvVars", Value: []string{TokenVariable}})
		}
	default:
		if h.Config.Typed {
			o = splice.Object{{Key: "type", Value: "command"}}
		}
		command := CommandLine(s, append([]string{l.Command, "hook", h.Agent}, l.Args...))
		if e.Kind == agenttool.BeforeCall && h.shellRefuses(s) {
			command = CommandLine(s, []string{"sh", "-c", command + orRefuse})
		}
		o = append(o, splice.Member{Key: "command", Value: command})
	}
	seconds := 10
	if e.Kind == agenttool.BeforeCall {
		seconds = h.Config.Wait
	}
	if h.Config.Milli {
		seconds *= 1000
	}
	o = append(o, splice.Member{Key: "timeout", Value: seconds})
	if e.Kind == agenttool.BeforeCall && h.Config.FailClosed.Key != "" {
		o = append(o, splice.Member(h.Config.FailClosed))
	}
	return o
}

// orRefuse is appended to the command of a pre-call hook, so that the agent refuses the call if the
// command fails. Agents treat exit code 2 as a refusal.
const orRefuse = ` || { echo "The call was not made." >&2; exit 2; }`

// shellRefuses reports whether the commands of pre-call hooks end with orRefuse on the given
// system. Agents with a setting for this purpose do not need it, and Windows lacks a suitable
// shell.
func (h Hooks) shellRefuses(s System) bool { return h.Config.FailClosed.Key == "" && s.OS != "windows" }

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
	Narrow bool   // whether the hook's filter excludes calls that petrigate needs to see, or the hook runs asynchronously

	command string
}

// Asks reports whether the hook might send its events to a proxy that uses the given configuration.
// If the hook is a URL or a command without --config, its configuration is unknown, and Asks
// returns true.
func (t Hook) Asks(s System, config string) bool {
	_, rest, named := strings.Cut(t.command, " --config ")
	if t.URL != "" || !named {
		return true
	}
	word := CommandLine(s, []string{config})
	for _, w := range []string{word, strings.ReplaceAll(word, "'", `'\''`)} { // a command wrapped in sh -c contains the path quoted twice
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
	for _, e := range h.Config.Configured() {
		for _, v := range d.List("hooks", e.Name) {
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
					all = append(all, Hook{e.Name, url, e.Kind == agenttool.BeforeCall, h.refusesOnFailure(v), isNarrow(e, group) || isNarrow(e, fields), command})
				}
			}
		}
	}
	return all
}

// isNarrow reports whether the settings of a hook, or of a group of hooks, exclude calls that
// petrigate needs or make the hook run asynchronously.
func isNarrow(e agenttool.HookEvent, fields map[string]any) bool {
	match, _ := fields["matcher"].(string)
	return !slices.Contains([]string{"", "*", ".*", e.Tools}, match) || fields["if"] != nil || fields["async"] == true || fields["asyncRewake"] == true
}

// Beside returns the paths of other files that can disable the hooks in the given file: another
// file of the agent in the same directory, and project files in the current directory.
func (h Hooks) Beside(file string) []string {
	if h.Config.Sibling == "" {
		return h.Config.Beside
	}
	return append([]string{filepath.Join(filepath.Dir(file), h.Config.Sibling)}, h.Config.Beside...)
}

// Off returns the setting in the file that disables all of the agent's hooks, or "" if the file
// does not disable them.
func (h Hooks) Off(d *splice.Document) string {
	for _, path := range h.Config.Off {
		last := len(path) - 1
		if v := d.At(path[:last]...); v != nil && fmt.Sprint(v) == path[last] {
			return strings.Join(path[:last], ".") + ": " + path[last]
		}
	}
	return ""
}

func (h Hooks) refusesOnFailure(v any) bool {
	fields, _ := v.(map[string]any)
	if h.Config.FailClosed.Key == "" {
		command, _ := fields["command"].(string)
		return strings.Contains(command, orRefuse)
	}
	return fields[h.Config.FailClosed.Key] == h.Config.FailClosed.Value
}

// CanClose reports whether, on the given system, a failure of the hook can cause the agent to
// refuse the call.
func (h Hooks) CanClose(s System) bool { return h.Config.FailClosed.Key != "" || h.shellRefuses(s) }

// ClosesAll reports whether the agent itself refuses a call after any failure of its hook.
func (h Hooks) ClosesAll() bool { return h.Config.FailClosed.Key != "" }

// Missing returns the names of the events that petrigate needs but that none of the given installed
// hooks reports.
func (h Hooks) Missing(there []Hook) []string {
	installed := list.Map(there, func(t Hook) string { return t.Event })
	names := list.Map(h.Config.Configured(), func(e agenttool.HookEvent) string { return e.Name })
	return list.Filter(names, func(name string) bool { return !slices.Contains(installed, name) })
}
