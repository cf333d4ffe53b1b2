package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A postStream answers one POST: with one JSON object where the answer is all
// there is to say, and as an event stream from the first message before it.
type postStream struct {
	modern bool
	method string

	mu     sync.Mutex
	w      http.ResponseWriter // nil once the handler has returned
	stream bool                // the event stream has begun
	done   bool                // the answer is written
}

func newPostStream(w http.ResponseWriter, r *http.Request, method string) *postStream {
	return &postStream{w: w, method: method, modern: first(r, protocolHeader) >= "2026-07-28"}
}

// send writes a message before the answer.
func (s *postStream) send(parts ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil || s.done {
		return
	}
	if !s.stream {
		s.stream = true
		startEvents(s.w)
	}
	writeEvent(s.w, parts)
}

// reply writes the answer, once.
func (s *postStream) reply(parts ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil || s.done {
		return
	}
	s.done = true
	if s.stream {
		writeEvent(s.w, parts)
		return
	}
	s.whole(parts)
}

// hasten is for an answer that somebody else gives while the handler is still
// busy: the client must not send its next request on this connection.
func (s *postStream) hasten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w != nil && !s.stream && !s.done {
		s.w.Header().Set("Connection", "close")
	}
}

// whole writes the answer as the body of the response.
func (s *postStream) whole(parts [][]byte) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	h := s.w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(size)}
	if status := s.status(parts); status != http.StatusOK {
		s.w.WriteHeader(status)
	}
	if size <= 4<<10 && len(parts) > 1 {
		parts = [][]byte{bytes.Join(parts, nil)}
	}
	for _, part := range parts {
		_, _ = s.w.Write(part)
	}
	flush(s.w) // whoever replies, the handler may still be waiting
}

// status is what revision 2026-07-28 wants for errors; before it all answers
// are 200.
func (s *postStream) status(parts [][]byte) int {
	if !s.modern || len(parts) > 1 && len(parts[1]) > 4<<10 {
		return http.StatusOK
	}
	e, failed := rawjson.Member(bytes.Join(parts, nil), "error")
	if !failed {
		return http.StatusOK
	}
	code, _ := rawjson.Member(e, "code")
	switch string(code) {
	case "-32601":
		return http.StatusNotFound
	case "-32700", "-32600", "-32602", "-32020", "-32021", "-32022":
		if s.method == "tools/call" && string(code) == "-32602" {
			return http.StatusOK // may be the upstream's own
		}
		return http.StatusBadRequest
	default:
		return http.StatusOK
	}
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
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// finish is called when the handler returns: nothing may be written after.
func (s *postStream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w != nil && !s.done && !s.stream {
		s.w.WriteHeader(http.StatusAccepted) // a cancelled request has no answer
	}
	s.w = nil
}

// errorReply writes an error of mcp-go under the id of the client.
func errorReply(id []byte, e any) []byte {
	body, err := json.Marshal(e)
	if err != nil {
		return wire.AppendError(nil, id, codeInternal, "no answer could be made", nil)
	}
	return append(append(wire.ErrorHead(id), body...), wire.Tail...)
}
