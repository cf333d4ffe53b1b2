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
	wordsKept = 20  // number of lines to keep
	wordsLine = 300 // maximum length of a line in bytes
)

// An outputLines holds the last lines of a child's output that are not protocol messages. They
// usually explain why the child cannot be used. If a child has ended, its lines are kept until the
// next child writes a line.
type outputLines struct {
	mu    sync.Mutex
	lines []string
	old   bool // whether the lines come from a child that has ended
}

// Begin declares that the next line will be the first one of a new child.
func (w *outputLines) Begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.old = true
}

// add adds a line. Its prefix tells where it was written.
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

// OnStdout is the prefix for lines on standard output that are not messages.
const OnStdout = "not a message, on standard output: "

// Hear stores a line, unless it is blank.
func (u *Host) Hear(where string, line []byte) {
	if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 {
		u.Words.add(where, line)
	}
}

// A Trickle limits the number of lines that are logged. It allows a burst, and after that a fixed
// number of lines per second. It also logs how many lines were dropped.
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
	trickleRate  = 20 // lines per second
)

func NewTrickle(log *slog.Logger, kind string) *Trickle {
	return &Trickle{log: log, kind: kind, left: TrickleBurst, last: time.Now()}
}

// Allow reports whether a line may be logged now.
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

// Flush logs how many lines have been dropped.
func (t *Trickle) Flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told()
}

func (t *Trickle) told() {
	if t.dropped > 0 {
		t.log.Log(context.Background(), slog.LevelWarn, "omitted lines of the server from the log", "kind", t.kind, "lines", t.dropped)
		t.dropped = 0
	}
}
