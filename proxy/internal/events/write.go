package events

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// KeepAlive is the interval of the comments on a silent stream.
const KeepAlive = 25 * time.Second

// usualRetry is the delay before a client should reconnect for the rest of a stream.
const usualRetry = time.Second

// eventID returns the id of an event from the name of its stream and its number there.
func eventID(stream string, number int) string { return stream + "_" + strconv.Itoa(number) }

// parseID returns the stream and the number of an event id. stream is empty if the id is invalid.
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

// writePrime begins a stream that can be resumed.
func writePrime(w http.ResponseWriter, id string) {
	_, _ = w.Write([]byte("id: " + id + "\nretry: " + strconv.FormatInt(usualRetry.Milliseconds(), 10) + "\ndata: \n\n"))
}

// writeComment keeps a silent stream open.
func writeComment(w http.ResponseWriter) {
	_, _ = w.Write([]byte(": still here\n\n"))
	flush(w)
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
