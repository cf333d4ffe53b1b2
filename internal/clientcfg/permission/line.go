package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
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

// String describes a line that cannot be converted.
func (l Line) String() string {
	return text.Escape(fmt.Sprintf("%s: %s: %s", l.Where, l.Text, l.why))
}
