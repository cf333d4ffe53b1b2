package main

import (
	"fmt"
	"io"
	"time"

	"github.com/petrigate/petrigate/internal/serve/terminal"
)

// A progress displays the progress of a long operation on a terminal. If the output is not a
// terminal, it prints nothing.
type progress struct {
	w     io.Writer // nil if the output is not a terminal
	next  time.Time
	shown bool
}

// progressEvery is the interval between updates. Shorter operations display no progress.
const progressEvery = 300 * time.Millisecond

func newProgress(w io.Writer) *progress {
	if !terminal.Is(w) {
		return &progress{}
	}
	return &progress{w: w, next: time.Now().Add(progressEvery)}
}

func (p *progress) update(text func() string) {
	if p.w == nil || time.Now().Before(p.next) {
		return
	}
	p.next, p.shown = time.Now().Add(progressEvery), true
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", text())
}

func (p *progress) clear() {
	if p.shown {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}
