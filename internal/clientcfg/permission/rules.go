package permission

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// A writer converts lines to rules, and collects the text of the rules and the lines that cannot be
// converted.
type writer struct {
	agent    string // name of the agent, used as a prefix of names in the rules
	out      strings.Builder
	rejected []Line
	labels   int
	ran      bool // whether any line allows a command
}

// fileTools lists the arguments that contain a file name, in the form tool.argument. The tools
// under the key true edit the file; those under false only read it.
var fileTools = map[bool][]string{
	false: {"Read.file_path", "read_file.file_path", "read_file.absolute_path"},
	true:  {"Edit.file_path", "Write.file_path", "MultiEdit.file_path", "write_file.file_path", "replace.file_path"},
}

// Rules converts lines of permission lists to rules for petrigate. It returns the lines that cannot
// be converted, and records the reasons in the given slice. If a line allows a command, the rules
// require approval for all other commands, but only in shadow mode, so that nothing is refused.
func Rules(agent, title string, lines []Line) (rules string, left []Line) {
	w := &writer{agent: agent}
	fmt.Fprintf(&w.out, "# Permission lists for %s, as rules.\n", title)
	for i := range lines {
		w.line(&lines[i])
	}
	if w.ran {
		fmt.Fprintf(&w.out, "\n# All other commands: %s asks about them itself. Without shadow, petrigate asks too.\nshadow require human-approval before bash unless %s-allowed\n", title, w.agent)
	}
	if len(w.rejected) > 0 {
		fmt.Fprintf(&w.out, "\n# Not imported:\n")
	}
	for _, l := range w.rejected {
		fmt.Fprintf(&w.out, "# %s\n", l)
	}
	return w.out.String(), w.rejected
}

func (w *writer) line(l *Line) {
	own := "it concerns one of the agent's built-in tools, and the agent's own list still applies"
	switch {
	case l.why != "":
	case l.command != "" && l.Decision == Allow:
		w.ran = true
		w.comment(l)
		command := l.command + " *"
		if l.exactly {
			command = "exactly " + l.command
		}
		fmt.Fprintf(&w.out, "map bash.command runs %s as %s-allowed\n", command, w.agent)
	case l.command != "":
		w.restrict(l, "bash.command runs "+l.command)
	case l.shell && l.Decision == Allow:
		l.why = own
	case l.shell:
		w.comment(l)
		w.rule(l.Decision, "bash")
	case l.tool != "" && !clientcfg.IsPlainTool(l.tool):
		l.why = "it is not the name of a tool"
	case l.tool != "" && l.Decision == Allow:
		l.why = "petrigate already lets calls pass that no rule restricts"
	case l.tool != "":
		w.comment(l)
		w.rule(l.Decision, l.tool)
	case l.Decision == Allow:
		l.why = own
	case l.domain != "":
		host := regexp.QuoteMeta(strings.TrimPrefix(l.domain, "*."))
		w.restrict(l, fmt.Sprintf(`WebFetch.url /^https?:\/\/([^\/]*\.)?%s([:\/?#]|$)/i`, host))
	default:
		w.files(l)
	}
	if l.why != "" {
		w.rejected = append(w.rejected, *l)
	}
}

func (w *writer) comment(l *Line) {
	fmt.Fprintf(&w.out, "\n# %s: %s\n", text.Escape(l.Where), text.Escape(l.Text))
}

// restrict writes map statements that give the same name to all calls that the line matches, and a
// rule that restricts calls with this name.
func (w *writer) restrict(l *Line, maps ...string) {
	w.labels++
	label := fmt.Sprintf("%s-%s-%d", w.agent, l.Decision, w.labels)
	w.comment(l)
	for _, m := range maps {
		fmt.Fprintf(&w.out, "map %s as %s\n", m, label)
	}
	w.rule(l.Decision, label)
}

func (w *writer) rule(d Decision, name string) {
	fmt.Fprintln(&w.out, clientcfg.RuleFor(name, d == Deny))
}

// files writes map statements and a rule for a line about files. If the file pattern contains
// special characters such as brackets, files writes nothing and records the reason in the line.
func (w *writer) files(l *Line) {
	glob := l.reads + l.edits
	if strings.ContainsAny(glob, "[]{}!\"\n") {
		l.why = "it is not a plain file pattern"
		return
	}
	maps := list.Map(fileTools[l.edits != ""], func(field string) string { return fmt.Sprintf("%s /%s/", field, fileRegex(glob)) })
	w.restrict(l, maps...)
}

// fileRegex converts a file pattern to a regular expression. A pattern that does not start at the
// root matches below any directory. Because the expression restricts calls, matching too much is
// safer than matching too little.
func fileRegex(glob string) string {
	glob, root := strings.CutPrefix(glob, "//")
	begin := `(^|\/)`
	if root {
		begin = `^\/`
	}
	for _, prefix := range []string{"./", "~/", "/"} {
		glob = strings.TrimPrefix(glob, prefix)
	}
	glob = strings.TrimPrefix(glob, "**/")
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch rest := glob[i:]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString(`(.*\/)?`)
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(`.*`)
			i++
		case rest[0] == '*':
			b.WriteString(`[^\/]*`)
		case rest[0] == '?':
			b.WriteString(`[^\/]`)
		case rest[0] == '/':
			b.WriteString(`\/`)
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return begin + b.String() + "$"
}
