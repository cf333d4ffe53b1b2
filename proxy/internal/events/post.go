// Package events writes responses to HTTP clients: as server-sent events, or as one JSON object if
// the JSON-RPC response is the only message.
//
// A [Post] responds to one POST request. A [Push] serves the GET stream of a session, which carries
// messages that belong to no request. [Lines] serves the only stream of an HTTP+SSE client
// (revision 2024-11-05). [Logs] stores the events of a session's streams, so that a client that has
// lost a stream can reconnect. All of them are safe for concurrent use, and callers never have to
// wait for a slow client.
package events

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
)

// jsonType is the Content-Type header of a JSON response. It must not be modified.
var jsonType = []string{"application/json"}

// A Post is the HTTP response to one POST request. If the answer (the JSON-RPC response) is the
// only message, the HTTP response is a single JSON object. Otherwise, it is an event stream that
// contains the notifications and requests sent before the answer, and then the answer.
type Post struct {
	o      PostOptions
	events bool // whether the client prefers an event stream to a single JSON object

	mu     sync.Mutex
	w      http.ResponseWriter // nil once the handler has returned
	stream bool                // whether the event stream has begun
	done   bool                // whether the JSON-RPC response has been written or stored
	log    *log                // events that the client may have missed; nil if the stream cannot be resumed
}

// PostOptions describes the message that a [Post] responds to.
type PostOptions struct {
	Method string   // method of the message
	ID     []byte   // ID of the message
	Rev    *rev.Rev // family of the protocol revision that the message uses
	Accept string   // value of the Accept header
	Logs   *Logs    // logs for resuming the stream, or nil
}

// NewPost returns a [Post] that writes to w. Finish must be called before the handler returns.
func NewPost(w http.ResponseWriter, o PostOptions) *Post {
	return &Post{w: w, o: o, events: prefersEvents(o.Accept)}
}

// prefersEvents reports whether an Accept header lists event streams before JSON.
func prefersEvents(accept string) bool {
	events, object := strings.Index(accept, "text/event-stream"), strings.Index(accept, "application/json")
	return events >= 0 && (object < 0 || events < object)
}

// begin starts the event stream unless it has already begun. The caller must hold mu.
func (s *Post) begin() {
	if s.stream {
		return
	}
	s.stream = true
	startEvents(s.w)
	if s.o.Logs != nil {
		s.log = s.o.Logs.open(s.o.ID)
		writePrime(s.w, s.log.id(0))
	}
}

// Send sends a message that precedes the JSON-RPC response.
func (s *Post) Send(parts ...[]byte) { s.Try(parts...) }

// Try is like Send, but returns false if the message is lost. A message is lost if the JSON-RPC
// response has already been written, or if the stream has ended and cannot be resumed.
func (s *Post) Try(parts ...[]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || s.w == nil && s.log == nil {
		return false
	}
	s.event(parts, false)
	return true
}

// event writes a message to the event stream. If the stream can be resumed, event also stores the
// message, because the client may miss it.
func (s *Post) event(parts [][]byte, last bool) {
	if s.w != nil {
		s.begin()
	}
	switch {
	case s.log == nil && s.w != nil:
		writeEvent(s.w, parts)
	case s.log == nil:
	case s.w != nil:
		writeEventID(s.w, s.log.add(parts, last), parts)
	default:
		s.log.add(parts, last)
	}
}

// Reply writes the JSON-RPC response. Later calls have no effect.
func (s *Post) Reply(parts ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return
	}
	s.done = s.w != nil || s.log != nil
	if s.stream || s.w != nil && s.events && s.status(parts) == http.StatusOK {
		s.event(parts, true)
	} else if s.w != nil {
		s.writeBody(s.status(parts), parts...)
	}
}

// Refuse writes a JSON-RPC response with the given HTTP status. It returns false if another message
// has already been written; the caller must then use [Post.Reply].
func (s *Post) Refuse(status int, answer []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil || s.done || s.stream {
		return false
	}
	s.done = true
	s.writeBody(status, answer)
	return true
}

// ExpectLateAnswer makes the server close the connection after the response. It must be called if
// another goroutine writes the JSON-RPC response while the handler is still busy, because further
// requests on the same connection would have to wait for the handler.
func (s *Post) ExpectLateAnswer() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w != nil && !s.stream && !s.done {
		s.w.Header().Set("Connection", "close")
	}
}

// Interrupt ends the stream before the JSON-RPC response, because the upstream has ended its own
// stream and wants the client to reconnect. It returns false if the client cannot reconnect.
func (s *Post) Interrupt(retry time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil || s.done || s.o.Logs == nil {
		return false
	}
	s.begin()
	if retry > 0 {
		_, _ = s.w.Write([]byte("retry: " + strconv.FormatInt(retry.Milliseconds(), 10) + "\n\n"))
	}
	flush(s.w)
	return true
}

// writeBody writes the JSON-RPC response as the body, with the given HTTP status.
func (s *Post) writeBody(status int, parts ...[]byte) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	h := s.w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(size)}
	if status != http.StatusOK {
		s.w.WriteHeader(status)
	}
	if size <= 4<<10 && len(parts) > 1 {
		parts = [][]byte{bytes.Join(parts, nil)}
	}
	for _, part := range parts {
		_, _ = s.w.Write(part)
	}
	flush(s.w) // send the response now, because the handler may return much later
}

// status returns the HTTP status for a JSON-RPC response. Revision 2026-07-28 prescribes an error
// status for certain errors. In earlier revisions, the status is always 200.
func (s *Post) status(parts [][]byte) int {
	if s.o.Rev != rev.Rev2026 || len(parts) > 1 && len(parts[1]) > 4<<10 {
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
		if s.o.Method == "tools/call" && string(code) == "-32602" {
			return http.StatusOK // the error may come from the upstream; the HTTP request itself has succeeded
		}
		return http.StatusBadRequest
	default:
		return http.StatusOK
	}
}

// Finish ends the response. It must be called when the handler returns. Later messages are not
// written, but they are stored if the stream can be resumed. If nothing has been written yet,
// Finish responds with 202 Accepted. If the client has received the whole stream, Finish drops the
// log.
func (s *Post) Finish(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log != nil && s.done && r.Context().Err() == nil {
		s.o.Logs.drop(s.log)
	}
	if s.w != nil && !s.done && !s.stream {
		s.w.WriteHeader(http.StatusAccepted) // a canceled request gets no JSON-RPC response
	}
	s.w = nil
}
