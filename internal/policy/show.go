package policy

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
) // Place returns where the problem is: file:line:column, or less where less is known.
func (p Problem) Place() string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	case p.File != "":
		return p.File
	default:
		return "petrigate"
	}
}

// SourceLine returns the line of the problem with a caret below it; empty if it
// cannot be shown. Problems of a configuration carry an excerpt with secrets
// masked; SourceLine reads no other line of such a file.
func (p Problem) SourceLine() string {
	if p.Excerpt != "" || p.Line == 0 || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(p.File)) {
		return p.Excerpt
	}
	src, err := os.ReadFile(p.File)
	lines := strings.Split(string(src), "\n")
	if err != nil || p.Line > len(lines) {
		return ""
	}
	line := []rune(strings.TrimRight(strings.TrimPrefix(lines[p.Line-1], "\ufeff"), "\r"))
	if p.Column < 1 || p.Column > len(line) || len(line) > 200 || slices.ContainsFunc(line, unicode.IsControl) {
		return ""
	}
	return "    " + string(line) + "\n    " + strings.Repeat(" ", p.Column-1) + "^"
}

// Print writes each problem with its source line.
func (ps Problems) Print(w io.Writer, ink text.Ink) {
	for _, p := range ps {
		style := text.Yellow
		switch p.Severity {
		case Error:
			style = text.Red
		case Note:
			style = text.Cyan
		}
		message := p.Message
		if p.Net != "" {
			message = fmt.Sprintf("net %q: %s", p.Net, message)
		}
		_, _ = fmt.Fprintf(w, "%s: %s: %s\n", ink.In(text.Bold, p.Place()), ink.In(style, fmt.Sprintf("%s[%s]", p.Severity, p.Code)), message)
		if line := p.SourceLine(); line != "" {
			_, _ = fmt.Fprintln(w, strings.TrimRight(line, "\n"))
		}
		_, _ = fmt.Fprint(w, p.Detail)
		if p.Hint != "" {
			_, _ = fmt.Fprintf(w, "  %s %s\n", ink.In(text.Cyan, "help:"), p.Hint)
		}
	}
}

// QuotedRule returns where a net was written, with the line.
func QuotedRule(at gate.Position, net string) string {
	line, _, _ := strings.Cut(Problem{File: at.File, Line: at.Line, Column: at.Column}.SourceLine(), "\n")
	if line = strings.TrimSpace(line); line == "" {
		line = net
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %s", at, line))
}

// MarkingText returns where tokens are; "empty" if there are none.
func MarkingText(m gate.Marking) string {
	if text := m.String(); text != "" {
		return text
	}
	return "empty"
}
