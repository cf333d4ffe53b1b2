package lsp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/diag"
)

// maxRelated is the maximum number of related locations per diagnostic.
const maxRelated = 10

// diagnostics converts problems to the protocol's diagnostics.
func (s *sources) diagnostics(problems diag.List) []diagnostic {
	all := []diagnostic{}
	for _, p := range problems {
		path := filepath.Clean(cmp.Or(p.File, s.project.main))
		t := s.text(path)
		from, to := extent(t, p)
		d := diagnostic{Range: t.span(from, to), Severity: severity(p.Severity), Code: p.Code, Source: "petrigate"}
		message := fullMessage(p)
		d.Related = s.related(message, path, p.Line)
		d.Message = s.shortened(message)
		if write, ok := replacement(p.Hint, t.src[from:to]); ok {
			d.Data = &repair{write}
		}
		all = append(all, d)
	}
	return all
}

func severity(s diag.Severity) int {
	switch s {
	case diag.Error:
		return severityError
	case diag.Note:
		return severityInfo
	default:
		return severityWarning
	}
}

// fullMessage returns the net, the text, the detail and the hint of a problem as one message.
func fullMessage(p diag.Problem) string {
	message := p.Msg
	if p.Net != "" {
		message = fmt.Sprintf("net %q: %s", p.Net, p.Msg)
	}
	if detail := strings.TrimRight(p.Detail, "\n"); detail != "" {
		message += "\n" + detail
	}
	if p.Hint != "" {
		message += "\nhelp: " + p.Hint
	}
	return message
}

// shortened returns the message with paths relative to the directory of the policy.
func (s *sources) shortened(message string) string {
	dir := filepath.Dir(s.project.main)
	if !filepath.IsAbs(dir) || dir == filepath.Dir(dir) {
		return message
	}
	return strings.ReplaceAll(message, dir+string(filepath.Separator), "")
}

var cited = regexp.MustCompile(`[^\s()"]+:\d+`)

// related returns the locations in the policy's files that the message mentions, except the
// location of the problem itself.
func (s *sources) related(message, path string, line int) []related {
	var all []related
	seen := map[string]bool{path + ":" + strconv.Itoa(line): true}
	files := s.project.files()
	for _, place := range cited.FindAllString(message, -1) {
		colon := strings.LastIndexByte(place, ':')
		file := filepath.Clean(place[:colon])
		n, err := strconv.Atoi(place[colon+1:])
		if err != nil || seen[place] || len(all) == maxRelated || !filepath.IsAbs(file) || !slices.Contains(files, file) {
			continue
		}
		seen[place] = true
		t := s.text(file)
		from, to := extent(t, diag.Problem{Line: n})
		all = append(all, related{location{s.uri(file), t.span(from, to)}, cmp.Or(strings.TrimSpace(t.src[from:to]), filepath.Base(file))})
	}
	return all
}

func (s *sources) uri(path string) string {
	if d := s.open[path]; d != nil {
		return d.uri
	}
	return uriOf(path)
}

// extent returns the range of bytes to mark for a problem: the characters above the carets in its
// excerpt, the word or statement at its position, or the whole line. If the problem concerns a
// whole file, extent returns the range of the file's first line.
func extent(t *content, p diag.Problem) (from, to int) {
	if p.Line < 1 {
		return 0, len(t.rowText(0)) + t.rows[0]
	}
	from, to = t.place(p.Line, p.Column), t.place(p.Line, 1<<30)
	if p.Line > len(t.rows) {
		return from, from
	}
	row := t.src[from:to]
	indent := len(row) - len(strings.TrimLeft(row, " \t"))
	switch width := carets(p.Excerpt); {
	case p.Column < 1: // without a column, mark the line except for its indentation
		from += indent
	case width > 1:
		to = advance(t.src, from, to, width)
	case width == 1 || filepath.Ext(p.File) != ".rules": // mark a single word
		to = max(min(bareEnd(t.src[:to], from), to), advance(t.src, from, to, 1))
	case strings.Contains(row, "#"): // mark the line up to its comment
		_, comment := words(row)
		to = from + len(strings.TrimRight(row[:comment], " \t"))
	}
	return from, max(from, to)
}

// advance moves an offset in s forward by the given number of characters, but not beyond bound.
func advance(s string, from, bound, characters int) int {
	for ; characters > 0 && from < bound; characters-- {
		_, size := utf8.DecodeRuneInString(s[from:bound])
		from += size
	}
	return from
}

// carets returns the number of carets below the line in an excerpt.
func carets(excerpt string) int {
	_, below, ok := strings.Cut(strings.TrimRight(excerpt, "\n"), "\n")
	if !ok {
		return 0
	}
	return strings.Count(below, "^")
}

var (
	suggestion = regexp.MustCompile(`^did you mean ("(?:[^"\\]|\\.)*")\?$`)
	plain      = regexp.MustCompile(`^[^\s"#,]+$`)
	inText     = regexp.MustCompile(`^"?[^\s"]*"?$`)
)

// replacement returns the text that a hint suggests in place of a word, quoted if necessary. The
// second result is false if the hint suggests no replacement for the word.
func replacement(hint, word string) (string, bool) {
	m := suggestion.FindStringSubmatch(hint)
	var write string
	if m == nil || word == "" || !inText.MatchString(word) || json.Unmarshal([]byte(m[1]), &write) != nil {
		return "", false
	}
	if !plain.MatchString(write) || word[0] == '"' {
		quoted, err := json.Marshal(write)
		return string(quoted), err == nil
	}
	return write, true
}
