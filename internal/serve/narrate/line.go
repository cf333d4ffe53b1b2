package narrate

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

const (
	maxName     = 60
	maxSentence = 160
	maxRules    = 90
	maxText     = 320
	minColumn   = 24 // minimum width of the column for line.about
	maxColumn   = 40
)

// A line is a single line of output.
type line struct {
	at    time.Time
	verb  string
	about string // subject of the line, usually a tool
	text  string
	vital bool // whether to print the line in quiet mode too
}

// verbColors maps the verb of a line to an ANSI color code. Verbs that are not listed have no
// color.
var verbColors = map[string]string{
	"pass": "32", "yes": "32", "stop": "31", "no": "31", "halt": "1;31", "fail": "33", "wait": "1;33", "lost": "33",
}

// lines prints lines of output. It is safe for concurrent use if its writer is safe for concurrent
// use.
type lines struct {
	out   io.Writer
	ink   text.Ink
	quiet func() bool
	mask  func(string) string

	column atomic.Int32 // width of the subject column, from minColumn to maxColumn; 0 until the first line is printed
}

// print prints a line. It ignores write errors, because they mean that the terminal is gone.
func (l *lines) print(s line) {
	if !s.vital && l.isQuiet() {
		return
	}
	verb := fmt.Sprintf("%-4s", s.verb)
	if style := verbColors[s.verb]; style != "" {
		verb = l.ink.In(style, verb)
	}
	about := l.plain(s.about, maxName)
	out := s.at.Local().Format(time.TimeOnly) + " " + verb + " " + fmt.Sprintf("%-*s", l.widen(about), about)
	if s.text != "" {
		out += "  " + l.plain(s.text, maxText)
	}
	_, _ = io.WriteString(l.out, strings.TrimRight(out, " ")+"\n")
}

// widen widens the subject column if the given subject requires it, and returns the width of the
// column. The column never becomes narrower, so that consecutive lines stay aligned.
func (l *lines) widen(about string) int {
	for {
		before := l.column.Load()
		now := max(before, minColumn, int32(min(utf8.RuneCountInString(about), maxColumn)))
		if now == before || l.column.CompareAndSwap(before, now) {
			return int(now)
		}
	}
}

func (l *lines) isQuiet() bool { return l.quiet != nil && l.quiet() }

// plain prepares untrusted text for printing. It masks secrets, escapes control characters and
// truncates the text.
func (l *lines) plain(s string, limit int) string {
	if l.mask != nil {
		s = l.mask(s)
	}
	return text.Excerpt(s, limit)
}

// join returns the nonempty parts, separated by two spaces.
func join(parts ...string) string {
	return strings.Join(list.Filter(parts, func(p string) bool { return p != "" }), "  ")
}
