package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A Decision is what a line decides about the calls that it matches.
type Decision string

// Possible decisions.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// A Line is one line of a permission list.
type Line struct {
	Where    string // file and key
	Text     string // the line as written in the file
	Decision Decision

	command string // words of the command
	exactly bool   // whether no further arguments are allowed
	shell   bool   // whether the line matches any command
	tool    string // tool name or pattern, as rules write it
	reads   string // pattern of the files that may be read
	edits   string // pattern of the files that may be edited
	domain  string // web domain

	why string // why the line cannot be converted; empty if it can
}

// call splits a line of the usual form, such as Bash(git push:*), into the tool and the text within
// the parentheses.
func call(text string) (tool, inside string, has bool) {
	tool, rest, has := strings.Cut(text, "(")
	inside, closed := strings.CutSuffix(rest, ")")
	return strings.TrimSpace(tool), strings.TrimSpace(inside), has && closed
}

// setCommand sets the command. A trailing :* or " *" means that further arguments are allowed.
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

// setMCP sets a tool of an MCP server or, if tool is empty, all of the server's tools.
func (l *Line) setMCP(server, tool string) {
	if tool == "" {
		tool = "*"
	}
	l.tool = server + "." + tool
}

// String describes why the line cannot be converted.
func (l Line) String() string {
	return text.Escape(fmt.Sprintf("%s: %s: %s", l.Where, l.Text, l.why))
}
