package events

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// KeepAlive is the interval between comments on a silent stream.
const KeepAlive = 25 * time.Second

// usualRetry is how long clients are asked to wait before they reconnect to a stream.
const usualRetry = time.Second

// eventID returns the ID of the event with the given number in a stream.
func eventID(stream string, number int) string { return stream + "_" + strconv.Itoa(number) }

// parseID returns the stream name and the event number in an event ID, or an empty name if the ID
// is invalid.
func parseID(id string) (stream string, number int) {
	stream, digits, _ := strings.Cut(id, "_")
	number, err := strconv.Atoi(digits)
	if err != nil || number < 0 {
		return "", 0
	}
	return stream, number
}

func startEvents(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
}

func writeEvent(w http.ResponseWriter, parts [][]byte) {
	_, _ = w.Write([]byte("event: message\ndata: "))
	for _, part := range parts {
		_, _ = w.Write(part)
	}
	_, _ = w.Write([]byte("\n\n"))
	flush(w)
}

func writeEventID(w http.ResponseWriter, id string, parts [][]byte) {
	_, _ = w.Write([]byte("id: " + id + "\n"))
	writeEvent(w, parts)
}

// writePrime writes the first event of a resumable stream.
func writePrime(w http.ResponseWriter, id string) {
	_, _ = w.Write([]byte("id: " + id + "\nretry: " + strconv.FormatInt(usualRetry.Milliseconds(), 10) + "\ndata: \n\n"))
}

// writeComment writes a comment, which keeps a silent stream open.
func writeComment(w http.ResponseWriter) {
	_, _ = w.Write([]byte(": still here\n\n"))
	flush(w)
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// Lines is an io.Writer that sends each line as an event, for the stream of HTTP+SSE (revision
// 2024-11-05). It is safe for concurrent use.
type Lines struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	inside bool // whether the latest write ended in the middle of a line
}

// NewLines returns a client's stream. Begin must be called before Write.
func NewLines(w http.ResponseWriter) *Lines { return &Lines{w: w} }

// Begin starts the stream with an event that tells the client where to post its messages.
func (e *Lines) Begin(where string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	startEvents(e.w)
	_, _ = io.WriteString(e.w, "event: endpoint\ndata: "+where+"\n\n") // a lost connection is detected later
	flush(e.w)
}

// Comment sends a comment, which keeps a silent stream open. In the middle of a line, it does
// nothing.
func (e *Lines) Comment() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.inside {
		writeComment(e.w)
	}
}

// Write writes b, which can begin and end in the middle of a line. Each complete line becomes one
// event.
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
