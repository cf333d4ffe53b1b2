// Package permission reads the permission lists that people have in the files of their
// agents, and writes them as rules. A line that it cannot take is named, with the reason.
package permission

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg"
)

// A Decision is the answer of a list's line for the calls that it matches.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// A Line is one line of a list.
type Line struct {
	Where    string // the file and the key
	Text     string // of the line, unchanged
	Decision Decision

	command string // the words of a command
	exactly bool   // without further arguments
	shell   bool   // any command
	tool    string // a tool, or a pattern of tools, as rules name it
	reads   string // a pattern of files
	edits   string // likewise
	domain  string // of a web page

	why string // it is not taken; empty: it is
}

// Lists reads the lists of an agent: those of the user, and those in the working directory
// of a project. The error of a file that cannot be read is a line that is not taken.
func Lists(agent string, s clientcfg.System, project string) []Line {
	read := readers[agent]
	if read == nil {
		return nil
	}
	return read(files{s, project})
}

// Agents are those whose lists are read.
func Agents() []string {
	var names []string
	for name := range readers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// readers read the lists of each agent, by its name.
var readers = map[string]func(files) []Line{
	"claude-code": claude, "codex": codex, "cursor": cursor, "gemini": gemini, "vscode": vscode,
}

// call splits a line in the usual form, such as Bash(git push:*), into the tool and the part
// in brackets.
func call(text string) (tool, inside string, has bool) {
	tool, rest, has := strings.Cut(text, "(")
	inside, closed := strings.CutSuffix(rest, ")")
	return strings.TrimSpace(tool), strings.TrimSpace(inside), has && closed
}

// setCommand notes a command with a mark for further arguments at its end, or without one.
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

// setMCP notes a tool of an MCP server, or all of its tools.
func (l *Line) setMCP(server, tool string) {
	if tool == "" {
		tool = "*"
	}
	l.tool = server + "." + tool
}
