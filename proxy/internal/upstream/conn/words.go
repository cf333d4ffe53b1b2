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
	wordsLine = 300 // bytes of one
)

// words are the last lines that a child has said beside the protocol. Where it
// cannot be used they mostly say why. Those of one that has ended are kept until
// the next one says something.
type words struct {
	mu    sync.Mutex
	lines []string
	old   bool // they are of a child that has ended
}

// Begin says that what comes is of another child.
func (w *words) Begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.old = true
}

// add takes a line, after what says where it stood.
func (w *words) add(where string, line []byte) {
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

// Said returns the lines that are kept.
func (w *words) Said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := make([]string, 0, len(w.lines))
	for _, line := range w.lines {
		said = append(said, text.Excerpt(line, wordsLine+len(OnStdout)))
	}
	return said
}

// OnStdout stands before what is on standard output and no message.
const OnStdout = "not a message, on standard output: "

// Hear keeps a line, if there is something in it.
func (u *Host) Hear(where string, line []byte) {
	if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 {
		u.Words.add(where, line)
	}
}

// A Trickle lets a burst of log lines through, and then some each second. It
// says how many it held back.
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
	trickleRate  = 20 // a second
)

func NewTrickle(log *slog.Logger, kind string) *Trickle {
	return &Trickle{log: log, kind: kind, left: TrickleBurst, last: time.Now()}
}

// Allow reports whether a line may be logged.
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

// Flush tells what was held back so far.
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
