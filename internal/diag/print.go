package diag

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// Place returns the problem's position, or "petrigate" if the position is unknown.
func (p Problem) Place() string { return cmp.Or(p.Position().String(), "petrigate") }

// SourceLine returns the source line with the problem and a caret below it, or "" if the line
// cannot be shown. If the problem has an excerpt, SourceLine returns the excerpt instead. It does
// not read YAML and JSON files, because they may contain secrets.
func (p Problem) SourceLine() string {
	if p.Excerpt != "" || p.Line == 0 || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(p.File)) {
		return p.Excerpt
	}
	src, err := os.ReadFile(p.File)
	lines := strings.Split(string(src), "\n")
	if err != nil || p.Line > len(lines) {
		return ""
	}
	line := strings.TrimRight(strings.TrimPrefix(lines[p.Line-1], "\ufeff"), "\r")
	if p.Column < 1 || p.Column > len([]rune(line)) {
		return ""
	}
	return Excerpt(line, p.Column, 1)
}

// Print prints each problem with its source line, its detail and its hint.
func (l List) Print(w io.Writer, ink text.Ink) {
	for _, p := range l {
		style := cmp.Or(map[Severity]string{Error: text.Red, Note: text.Cyan}[p.Severity], text.Yellow)
		_, _ = fmt.Fprintf(w, "%s: %s: %s\n", ink.In(text.Bold, p.Place()), ink.In(style, fmt.Sprintf("%s[%s]", p.Severity, p.Code)), p.message())
		if line := p.SourceLine(); line != "" {
			_, _ = fmt.Fprintln(w, strings.TrimRight(line, "\n"))
		}
		_, _ = fmt.Fprint(w, p.Detail)
		if p.Hint != "" {
			_, _ = fmt.Fprintf(w, "  %s %s\n", ink.In(text.Cyan, "help:"), p.Hint)
		}
	}
}
