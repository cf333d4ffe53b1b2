package events

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// Lines is an io.Writer that sends each line written to it as an event. It is used for the stream
// of HTTP+SSE (revision 2024-11-05). It is safe for concurrent use.
type Lines struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	inside bool // whether the last write has ended in the middle of a line
}

// NewLines returns the stream of a client. Begin must be called before Write.
func NewLines(w http.ResponseWriter) *Lines { return &Lines{w: w} }

// Begin starts the stream. The first event tells the client where to post its messages.
func (e *Lines) Begin(where string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	startEvents(e.w)
	_, _ = io.WriteString(e.w, "event: endpoint\ndata: "+where+"\n\n") // a lost connection is detected later
	flush(e.w)
}

// Comment sends a comment, which keeps a silent stream open. In the middle of a line, it sends
// nothing.
func (e *Lines) Comment() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.inside {
		writeComment(e.w)
	}
}

// Write writes a part of a line, or any number of lines.
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
