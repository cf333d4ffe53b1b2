package conn

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

const (
	wordsKept = 20  // lines
	wordsLine = 300 // bytes of one line
)

// outputLines holds the last output lines of a child that are not protocol messages. They usually
// explain why it cannot be used. The lines of a child that has ended are kept until the next child
// writes a line.
type outputLines struct {
	mu    sync.Mutex
	lines []string
	old   bool // the lines are from a child that has ended
}

// Begin marks the next line as the first one of a new child.
func (w *outputLines) Begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.old = true
}

// add adds a line with the prefix where.
func (w *outputLines) add(where string, line []byte) {
	text := where + string(line[:min(len(line), wordsLine)])
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.old {
		w.lines, w.old = nil, false
	}
	if len(w.lines) == wordsKept {
		w.lines = append(w.lines[:0], w.lines[1:]...)
	}
	w.lines = append(w.lines, text)
}

// Said returns the stored lines.
func (w *outputLines) Said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := make([]string, 0, len(w.lines))
	for _, line := range w.lines {
		said = append(said, text.Excerpt(line, wordsLine+len(OnStdout)))
	}
	return said
}

// OnStdout is the prefix of lines on standard output that are not messages.
const OnStdout = "not a message, on standard output: "

// Hear stores a line unless it is blank.
func (u *Host) Hear(where string, line []byte) {
	if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 {
		u.Words.add(where, line)
	}
}

// A Trickle limits the rate of log lines: it lets a burst through, and then some each second. It
// logs how many lines it dropped.
type Trickle struct {
	log  *slog.Logger
	kind string

	mu      sync.Mutex
	left    float64
	last    time.Time
	dropped int
}

const (
	TrickleBurst = 100
	trickleRate  = 20 // per second
)

func NewTrickle(log *slog.Logger, kind string) *Trickle {
	return &Trickle{log: log, kind: kind, left: TrickleBurst, last: time.Now()}
}

// Allow reports whether a line can be logged now.
func (t *Trickle) Allow() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.left = min(TrickleBurst, t.left+now.Sub(t.last).Seconds()*trickleRate)
	t.last = now
	if t.left < 1 {
		t.dropped++
		return false
	}
	t.left--
	t.told()
	return true
}

// Flush logs the number of lines dropped so far.
func (t *Trickle) Flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told()
}

func (t *Trickle) told() {
	if t.dropped > 0 {
		t.log.Log(context.Background(), slog.LevelWarn, "lines of the server left out of the log", "kind", t.kind, "lines", t.dropped)
		t.dropped = 0
	}
}
