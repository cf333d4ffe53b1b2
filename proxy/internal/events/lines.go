package events

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// Lines make an event of each line that is written. They are the stream of
// revision 2024-11-05.
type Lines struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	inside bool // a line has begun
}

// NewLines makes the stream of a client, which Begin begins.
func NewLines(w http.ResponseWriter) *Lines { return &Lines{w: w} }

// Begin tells the client where to send its messages.
func (e *Lines) Begin(where string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	startEvents(e.w)
	_, _ = io.WriteString(e.w, "event: endpoint\ndata: "+where+"\n\n") // a client that is gone is noticed later
	flush(e.w)
}

// Comment keeps a silent stream open, unless it is in the middle of a line.
func (e *Lines) Comment() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.inside {
		writeComment(e.w)
	}
}

// Write takes any part of the lines.
func (e *Lines) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for rest := b; len(rest) > 0; {
		line, more, whole := bytes.Cut(rest, []byte("\n"))
		var parts [][]byte
		if !e.inside {
			parts = append(parts, []byte("event: message\ndata: "))
		}
		parts = append(parts, line)
		if whole {
			parts = append(parts, []byte("\n\n"))
		}
		for _, part := range parts {
			if _, err := e.w.Write(part); err != nil {
				return 0, err
			}
		}
		e.inside, rest = !whole, more
	}
	flush(e.w)
	return len(b), nil
}
