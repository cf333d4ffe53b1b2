package events

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// KeepAlive is the interval between comments on a silent stream.
const KeepAlive = 25 * time.Second

// usualRetry is how long clients should wait before they reconnect for the rest of a stream.
const usualRetry = time.Second

// eventID returns the ID of the event with the given number in a stream.
func eventID(stream string, number int) string { return stream + "_" + strconv.Itoa(number) }

// parseID returns the stream name and the event number in an event ID. The stream name is empty if
// the ID is invalid.
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

// writePrime writes the first event of a stream that the client can resume.
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
