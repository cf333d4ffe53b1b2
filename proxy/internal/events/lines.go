package events

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// Lines is an io.Writer that sends each written line as an event. It is the stream of HTTP+SSE
// (revision 2024-11-05), and safe for concurrent use.
type Lines struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	inside bool // in the middle of a line
}

// NewLines returns the stream of a client. Call Begin before Write.
func NewLines(w http.ResponseWriter) *Lines { return &Lines{w: w} }

// Begin starts the stream and tells the client the address for its messages.
func (e *Lines) Begin(where string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	startEvents(e.w)
	_, _ = io.WriteString(e.w, "event: endpoint\ndata: "+where+"\n\n") // a client that has disconnected is noticed later
	flush(e.w)
}

// Comment keeps a silent stream open. It writes nothing in the middle of a line.
func (e *Lines) Comment() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.inside {
		writeComment(e.w)
	}
}

// Write writes any part of the lines.
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
