package permission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A Decision specifies what happens to the calls that match a [Line].
type Decision string

// Values of [Decision].
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// A Line is an element of a permission list, which allows or restricts certain calls.
type Line struct {
	Where    string // file and key that contain the line
	Text     string // the line as written in the file
	Decision Decision

	command string // words of the command that the line matches
	exactly bool   // whether the line matches only commands without further arguments
	shell   bool   // whether the line matches any command
	tool    string // tool name or pattern, in the syntax of petrigate's rules
	reads   string // pattern of the files that the matching calls read
	edits   string // pattern of the files that the matching calls edit
	domain  string // web domain that the matching calls access

	why string // why the line cannot be converted; empty if it can
}

// call splits a line such as Bash(git push:*) into the tool name and the text in parentheses. ok is
// false if the line does not have this form.
func call(text string) (tool, inside string, ok bool) {
	tool, rest, ok := strings.Cut(text, "(")
	inside, closed := strings.CutSuffix(rest, ")")
	return strings.TrimSpace(tool), strings.TrimSpace(inside), ok && closed
}

// setCommand parses the pattern of a shell command and makes the line match it. An empty pattern or
// "*" matches any command. Further arguments are allowed if the pattern ends with ":*" or " *", or
// if exactly is false. If the pattern cannot be written in a map statement, setCommand records the
// reason.
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
		l.why = `it contains the word "as"; write the map by hand`
	default:
		l.command, l.exactly = strings.Join(strings.Fields(words), " "), exactly && !any
	}
}

// setMCP makes the line match a tool of an MCP server or, if tool is empty, all tools of the
// server.
func (l *Line) setMCP(server, tool string) {
	l.tool = server + "." + cmp.Or(tool, "*")
}

// String describes why the line cannot be converted.
func (l Line) String() string {
	return text.Escape(fmt.Sprintf("%s: %s: %s", l.Where, l.Text, l.why))
}
