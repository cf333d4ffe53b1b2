package splice

import (
	"bytes"
	"slices"
	"strings"
)

// A lineSegment is a segment of a TOML or YAML file. It consists of whole lines.
type lineSegment = segment[[]byte]

// A run is a half-open range of lines that [cut] turns into one segment.
type run struct {
	name     string
	entry    bool
	from, to int
}

// lineStarts returns the offset of each line, followed by the offset of the end of the text.
func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, c := range text {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	if starts[len(starts)-1] != len(text) {
		starts = append(starts, len(text))
	}
	return starts
}

// cut divides text into segments: one for each of the given runs, which must be in order, and one
// for each piece of text before, between or after them. If a run is an entry, its segment also
// includes the comment directly above it and the empty lines above that comment.
func cut(text []byte, runs []run) []lineSegment {
	starts := lineStarts(text)
	piece := func(from, to int) []byte { return text[starts[from]:starts[to]] }
	var all []lineSegment
	at := 0
	for _, r := range runs {
		from := r.from
		if r.entry {
			from = withComment(text, starts, at, r.from)
		}
		if from > at {
			all = append(all, lineSegment{text: piece(at, from)})
		}
		all = append(all, lineSegment{r.name, r.entry, piece(from, r.to)})
		at = r.to
	}
	if end := len(starts) - 1; at < end {
		all = append(all, lineSegment{text: piece(at, end)})
	}
	return all
}

// withComment moves the start of an entry up, past the comment directly above it and the empty
// lines above the comment. It does not include a comment at the start of the file, because such a
// comment describes the file.
func withComment(text []byte, starts []int, least, from int) int {
	line := func(i int) string { return strings.TrimSpace(string(text[starts[i]:starts[i+1]])) }
	at := from
	for at > least && strings.HasPrefix(line(at-1), "#") {
		at--
	}
	if at == 0 {
		at = from
	}
	for at > least && line(at-1) == "" {
		at--
	}
	return at
}

// trimmed shortens a range of lines and returns its new end. It removes empty lines from the end of
// the range. It also removes trailing comments that start at the given column or to the left of it.
// It keeps at least one line. Columns are counted from 1.
func trimmed(text []byte, starts []int, from, to, column int) int {
	for to > from+1 {
		line := string(text[starts[to-1]:starts[to]])
		outside := len(line)-len(strings.TrimLeft(line, " ")) < column
		if strings.TrimSpace(line) != "" && !(strings.HasPrefix(strings.TrimSpace(line), "#") && outside) {
			break
		}
		to--
	}
	return to
}

// join concatenates the segments, adding missing line breaks between them. If the original text of
// the file does not end with a line break, neither does the result.
func join(all []lineSegment, before []byte) []byte {
	newline := newlineOf(before)
	var b bytes.Buffer
	for _, s := range all {
		if n := b.Len(); n > 0 && len(s.text) > 0 && b.Bytes()[n-1] != '\n' {
			b.WriteString(newline)
		}
		b.Write(s.text)
	}
	if len(before) > 0 && before[len(before)-1] != '\n' {
		return bytes.TrimSuffix(b.Bytes(), []byte(newline))
	}
	return b.Bytes()
}

// emptyAbove returns the empty lines above the first entry that has one of the names.
func emptyAbove(all []lineSegment, names []string) string {
	for _, s := range all {
		if s.entry && slices.Contains(names, s.name) {
			rest := strings.TrimLeft(string(s.text), " \t\r\n")
			front := string(s.text[:len(s.text)-len(rest)])
			return front[:strings.LastIndexByte(front, '\n')+1]
		}
	}
	return ""
}
