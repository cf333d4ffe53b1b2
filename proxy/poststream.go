package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A postStream answers one POST: with one JSON object where the answer is all
// there is to say, and as an event stream from the first message before it.
type postStream struct {
	modern bool
	method string
	events bool // the client wants an event stream rather than one object

	mu     sync.Mutex
	w      http.ResponseWriter // nil once the handler has returned
	stream bool                // the event stream has begun
	done   bool                // the answer is written
	log    *streamLog          // of what the client may miss; nil: it cannot come back
	logs   *streamLogs
}

func newPostStream(w http.ResponseWriter, r *http.Request, method string) *postStream {
	return &postStream{w: w, method: method, modern: first(r, protocolHeader) >= "2026-07-28", events: prefersEvents(first(r, "Accept"))}
}

// prefersEvents reports whether an Accept header names event streams before
// JSON.
func prefersEvents(accept string) bool {
	events, object := strings.Index(accept, "text/event-stream"), strings.Index(accept, "application/json")
	return events >= 0 && (object < 0 || events < object)
}

// within makes the stream one of a session, which its client can take up again
// if it knows how to.
func (s *postStream) within(c *client) *postStream {
	if resumable(c.speaker(wire.Meta{}).protocol) {
		s.logs = &c.streams
	}
	return s
}

// begin starts the event stream, unless it has begun.
func (s *postStream) begin() {
	if s.stream {
		return
	}
	s.stream = true
	startEvents(s.w)
	if s.logs != nil {
		s.log = s.logs.open()
		prime(s.w, s.log)
	}
}

// Send writes a message before the answer.
func (s *postStream) Send(parts ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done {
		s.event(parts, false)
	}
}

// event writes a message to the event stream, or keeps it for a client that
// comes back.
func (s *postStream) event(parts [][]byte, last bool) {
	if s.w != nil {
		s.begin()
	}
	switch {
	case s.log == nil && s.w != nil:
		writeEvent(s.w, parts)
	case s.log == nil:
	case s.w != nil:
		writeEventID(s.w, s.log.add(joined(parts), last), parts)
	default:
		s.log.add(joined(parts), last)
	}
}

// Reply writes the answer, once.
func (s *postStream) Reply(parts ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return
	}
	s.done = s.w != nil || s.log != nil
	if s.stream || s.w != nil && s.events && s.status(parts) == http.StatusOK {
		s.event(parts, true)
	} else if s.w != nil {
		s.whole(parts)
	}
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
// What the client has seen to the end need not be kept.
func (s *postStream) finish(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log != nil && s.done && r.Context().Err() == nil {
		s.logs.drop(s.log)
	}
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
