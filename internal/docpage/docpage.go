// Package docpage extracts the code blocks from the README and the pages in docs, and runs the
// tutorial. Only tests use it.
//
// A code block is either fenced, or indented by four spaces after an empty line or one of the
// comments below. Such a comment above a block, possibly with empty lines between them, tells tests
// how to treat the block. In the output shown in a block, the line "..." stands for omitted lines.
//
//	<!-- run in: FOLDER -->    the block's commands run in this folder of the repository and print the output shown in the block
//	<!-- seen in: FILE -->     each line of the block's output is also in this file of the repository
//	<!-- not run: REASON -->   the block's commands cannot run in a test
package docpage

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A Block is a code block on a page.
type Block struct {
	Page string // path of the page in the repository
	Line int    // number of the first line of the content
	Kind string // info string of the fence, or "indented" for a block without a fence
	Text string // content without the block's indentation

	RunIn, SeenIn, NotRun string // value in the comment above the block, such as FOLDER; may be empty
}

// marker matches a comment that tells tests how to treat the block below it. It is read-only.
var marker = regexp.MustCompile(`^<!-- (run in|seen in|not run): (.+) -->$`)

// All returns the code blocks in the README and all pages in docs. top is the root of the
// repository.
func All(t testing.TB, top string) []Block {
	t.Helper()
	var found []Block
	for page, text := range pages(t, top) {
		found = append(found, Parse(page, text)...)
	}
	return found
}

// Prose returns the text of the README and of each page in docs, keyed by path. It leaves out
// fenced code blocks.
func Prose(t testing.TB, top string) map[string]string {
	t.Helper()
	found := pages(t, top)
	for page, text := range found {
		found[page] = fenced.ReplaceAllString(text, "")
	}
	return found
}

// fenced matches a fenced code block. It is read-only.
var fenced = regexp.MustCompile("(?s)\n```.*?\n```\n")

// pages returns the text of the README and of each page in docs, keyed by path relative to top.
func pages(t testing.TB, top string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d pages: %v", len(files), err)
	}
	found := make(map[string]string)
	for _, file := range append(files, filepath.Join(top, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(top, file)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.ToSlash(name)] = string(text)
	}
	return found
}

// Parse returns the code blocks of a page.
func Parse(page, text string) []Block {
	var found []Block
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		b := Block{Page: page, Line: i + 1}
		var end int
		if kind, fenced := strings.CutPrefix(lines[i], "```"); fenced {
			b.Kind, end = kind, i+1
			for end < len(lines) && lines[end] != "```" {
				end++
			}
			b.Text = strings.Join(lines[i+1:min(end, len(lines))], "\n") + "\n"
		} else if end = indentedEnd(lines, i); end > i {
			b.Kind = "indented"
			b.Text = strings.ReplaceAll("\n"+strings.Join(lines[i:end], "\n"), "\n    ", "\n")[1:] + "\n"
		} else {
			continue
		}
		b.readMarker(lines, i)
		found, i = append(found, b), end
	}
	return found
}

// indentedEnd returns the end of the indented block that begins at line i, or i if no block begins
// there.
func indentedEnd(lines []string, i int) int {
	if !strings.HasPrefix(lines[i], "    ") || i == 0 || lines[i-1] != "" && !marker.MatchString(lines[i-1]) {
		return i
	}
	end := i
	for j := i; j < len(lines) && (lines[j] == "" || strings.HasPrefix(lines[j], "    ")); j++ {
		if lines[j] != "" {
			end = j + 1
		}
	}
	return end
}

// readMarker reads the marker comment above line i, if any.
func (b *Block) readMarker(lines []string, i int) {
	for i > 0 && lines[i-1] == "" {
		i--
	}
	m := marker.FindStringSubmatch(lines[max(i-1, 0)])
	if m == nil {
		return
	}
	switch m[1] {
	case "run in":
		b.RunIn = m[2]
	case "seen in":
		b.SeenIn = m[2]
	default:
		b.NotRun = m[2]
	}
}

// A Session is a command in a block together with the output that the block shows for it.
type Session struct{ Command, Output string }

// Sessions returns the commands in a block. Each line that begins with "$ " contains a command, and
// the lines below it show the output.
func (b Block) Sessions() []Session {
	var found []Session
	for line := range strings.Lines(b.Text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			found = append(found, Session{Command: strings.TrimSpace(command)})
		} else if len(found) > 0 {
			found[len(found)-1].Output += line
		}
	}
	return found
}

// Script returns a block's commands as a shell script, or "" if the block contains no commands. If
// no line begins with "$ ", the whole text of a sh block, or of a block that begins with a
// petrigate command, counts as commands.
func (b Block) Script() string {
	if all := b.Sessions(); len(all) > 0 {
		var script strings.Builder
		for _, s := range all {
			script.WriteString(s.Command + "\n")
		}
		return script.String()
	}
	if b.Kind == "sh" || b.Kind != "rules" && strings.HasPrefix(b.Text, "petrigate ") {
		return b.Text
	}
	return ""
}
