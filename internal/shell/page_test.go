package shell_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/shell"
)

// TestDocumentedTablesMatchAnswers checks the tables of docs/shell.md against the answers of this
// package.
func TestDocumentedTablesMatchAnswers(t *testing.T) {
	text, err := os.ReadFile("../../docs/shell.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	var of []string
	rows := 0
	for line := range strings.Lines(string(text)) {
		line = strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00")
		cells := strings.Split(line, "|")
		switch {
		case !strings.HasPrefix(line, "|") || len(cells) < 4:
			of = nil
			continue
		case strings.HasPrefix(line, "| script, for "):
			of = nil
			for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
				of = append(of, m[1])
			}
			continue
		case of == nil || strings.HasPrefix(line, "|---"):
			continue
		}
		script := strings.Trim(strings.TrimSpace(strings.ReplaceAll(cells[1], "\x00", "|")), "`")
		if got, want := pageAnswer(t, script, of), strings.TrimSpace(cells[2]); !agrees(got, want) {
			t.Errorf("for %q: %q: %q, and the page says %q", of, script, got, want)
		}
		rows++
	}
	if rows < 50 {
		t.Errorf("the page has %d rows", rows)
	}
}

// pageAnswer answers the three questions about commands, or the one about files, in the words of
// docs/shell.md.
func pageAnswer(t *testing.T, script string, of []string) []string {
	r := shell.Read(script)
	if access, glob, ok := strings.Cut(of[0], " "); ok && access != "runs" {
		p, err := shell.CompileFiles(map[string]shell.Access{"reads": shell.Reads, "writes": shell.Writes}[access], glob)
		if err != nil {
			t.Fatal(err)
		}
		found, _ := r.Touches(p)
		return []string{[...]string{shell.NoMatch: "no", shell.Match: "yes", shell.Opaque: "doubt"}[found]}
	}
	var ps []shell.Pattern
	for _, words := range of {
		ps = append(ps, pattern(t, strings.TrimPrefix(words, "runs ")))
	}
	answers := []string{[...]string{shell.NoMatch: "no", shell.Match: "match", shell.Opaque: "doubt"}[runs(r, ps[0])]}
	answers = append(answers, map[bool]string{true: "counts", false: "does not count"}[surely(r, ps[0])])
	return append(answers, map[bool]string{true: "exempt", false: "not exempt"}[onlyCheck(r, ps...)])
}

func agrees(answers []string, want string) bool {
	for _, a := range answers {
		if a == want {
			return true
		}
	}
	return false
}
