package events

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// KeepAlive is the time between two comments on a silent stream.
const KeepAlive = 25 * time.Second

// usualRetry is how long a client is told to wait before it comes back for
// the rest of a stream.
const usualRetry = time.Second

// eventID is the id of an event by the name of its stream and its number there.
func eventID(stream string, number int) string { return stream + "_" + strconv.Itoa(number) }

// parseID is the stream and the number of an event by its id; empty: it is none.
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

// writePrime begins a stream that can be taken up again.
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
