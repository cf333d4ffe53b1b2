// Package events writes what a client over HTTP is told: as server-sent events,
// or as one JSON object where that is all there is to say.
//
// A [Post] answers one POST. A [Push] is the GET stream of a session, for what
// belongs to no request. [Lines] are the one stream of a client of revision
// 2024-11-05. [Logs] keep the streams of a session for a client that lost one
// and comes back for the rest. All of them may be written to at once, and by
// those who do not wait for a client.
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

// jsonType is the value of a header. It is never written to.
var jsonType = []string{"application/json"}

// A Post answers one POST: with one JSON object where the answer is all
// there is to say, and as an event stream from the first message before it.
type Post struct {
	o      PostOptions
	events bool // the client wants an event stream rather than one object

	mu     sync.Mutex
	w      http.ResponseWriter // nil once the handler has returned
	stream bool                // the event stream has begun
	done   bool                // the answer is written
	log    *log                // of what the client may miss; nil: it cannot come back
}

// PostOptions say what is answered.
type PostOptions struct {
	Method string   // of the message that was posted
	ID     []byte   // of the message
	Rev    *rev.Rev // family of revisions of the message
	Accept string   // the header
	Logs   *Logs    // where the client can take the stream up again; nil: it cannot
}

// NewPost makes the answer to a POST. Call Finish before its handler returns.
func NewPost(w http.ResponseWriter, o PostOptions) *Post {
	return &Post{w: w, o: o, events: prefersEvents(o.Accept)}
}

// prefersEvents reports whether an Accept header names event streams before
// JSON.
func prefersEvents(accept string) bool {
	events, object := strings.Index(accept, "text/event-stream"), strings.Index(accept, "application/json")
	return events >= 0 && (object < 0 || events < object)
}

// begin starts the event stream, unless it has begun.
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

// Send writes a message before the answer.
func (s *Post) Send(parts ...[]byte) { s.Try(parts...) }

// Try is Send, and reports whether there was a place for the message: after the
// answer, or the end of the response without one, there is none.
func (s *Post) Try(parts ...[]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || s.w == nil && s.log == nil {
		return false
	}
	s.event(parts, false)
	return true
}

// event writes a message to the event stream, or keeps it for a client that
// comes back.
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

// Reply writes the answer, once.
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
		s.whole(parts)
	}
}

// Refuse writes the answer with a status of its own. It reports false if something was
// written before: then only [Post.Reply] can answer.
func (s *Post) Refuse(status int, answer []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil || s.done || s.stream {
		return false
	}
	s.done = true
	h := s.w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(answer))}
	s.w.WriteHeader(status)
	_, _ = s.w.Write(answer)
	flush(s.w)
	return true
}

// Hasten is for an answer that somebody else gives while the handler is still
// busy: the client must not send its next request on this connection.
func (s *Post) Hasten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w != nil && !s.stream && !s.done {
		s.w.Header().Set("Connection", "close")
	}
}

// Interrupt ends the response for now: the upstream has ended its stream, and
// wants the client to come back. It reports false where the client would not.
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

// whole writes the answer as the body of the response.
func (s *Post) whole(parts [][]byte) {
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
			return http.StatusOK // may be the upstream's own
		}
		return http.StatusBadRequest
	default:
		return http.StatusOK
	}
}

// Finish is called when the handler returns: nothing may be written after.
// What the client has seen to the end need not be kept.
func (s *Post) Finish(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log != nil && s.done && r.Context().Err() == nil {
		s.o.Logs.drop(s.log)
	}
	if s.w != nil && !s.done && !s.stream {
		s.w.WriteHeader(http.StatusAccepted) // a cancelled request has no answer
	}
	s.w = nil
}
