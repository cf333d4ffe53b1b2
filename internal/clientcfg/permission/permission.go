// Package permission reads the permission lists of agents and converts them to rules. Lines that
// cannot be converted are returned with a reason.
package permission

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg"
)

// A Decision is the verdict of a line for the calls that it matches.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// A Line is one line of a permission list.
type Line struct {
	Where    string // file and key
	Text     string // unchanged text of the line
	Decision Decision

	command string // words of a command
	exactly bool   // no further arguments
	shell   bool   // any command
	tool    string // tool name or pattern, as in rules
	reads   string // pattern of files that are read
	edits   string // pattern of files that are edited
	domain  string // domain of a web page

	why string // reason why the line cannot be converted; empty if it can
}

// Lists reads the permission lists of an agent: those of the user, and those of the project
// directory. An unreadable file becomes a line that cannot be converted.
func Lists(agent string, s clientcfg.System, project string) []Line {
	read := readers[agent]
	if read == nil {
		return nil
	}
	return read(files{s, project})
}

// Agents returns the sorted names of the supported agents.
func Agents() []string {
	var names []string
	for name := range readers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// readers maps the names of agents to the functions that read their lists.
var readers = map[string]func(files) []Line{
	"claude-code": claude, "codex": codex, "cursor": cursor, "gemini": gemini, "vscode": vscode,
}

// call splits a line of the usual form, such as Bash(git push:*), into the tool and the text in
// parentheses.
func call(text string) (tool, inside string, has bool) {
	tool, rest, has := strings.Cut(text, "(")
	inside, closed := strings.CutSuffix(rest, ")")
	return strings.TrimSpace(tool), strings.TrimSpace(inside), has && closed
}

// setCommand sets the command. A mark at its end, :* or " *", allows further arguments.
func (l *Line) setCommand(text string, exactly bool) {
	words, any := strings.CutSuffix(text, ":*")
	if !any {
		words, any = strings.CutSuffix(text, " *")
	}
	words = strings.TrimSpace(words)
	switch {
	case words == "*" || words == "":
		l.shell = true
	case strings.ContainsAny(words, "\"'`$\\#;&|<>(){}*?"):
		l.why = "it is not a plain command"
	case slices.Contains(strings.Fields(words), "as"):
		l.why = `write the map by hand: "as" is a word of it`
	default:
		l.command, l.exactly = strings.Join(strings.Fields(words), " "), exactly && !any
	}
}

// setMCP sets a tool of an MCP server, or all of its tools.
func (l *Line) setMCP(server, tool string) {
	if tool == "" {
		tool = "*"
	}
	l.tool = server + "." + tool
}
