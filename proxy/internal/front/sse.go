package front

import (
	"context"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/httpguard"
	"github.com/petrigate/petrigate/proxy/internal/lines"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Paths for HTTP+SSE (2024-11-05): the stream, and the endpoint for the client's messages.
const (
	ssePath      = "/sse"
	messagesPath = "/messages"
)

// serveSSE serves HTTP+SSE (2024-11-05). It returns false for other paths.
func (h *handler) serveSSE(w http.ResponseWriter, r *http.Request) bool {
	method, serve := http.MethodGet, h.sse
	switch r.URL.Path {
	case ssePath:
	case messagesPath:
		method, serve = http.MethodPost, h.messages
	default:
		return false
	}
	v, ok := h.guard.Admit(w, r)
	if !ok {
		return true
	}
	defer v.Release()
	if r.Method != method {
		w.Header().Set("Allow", method)
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return true
	}
	serve(w, r, v)
	return true
}

// sse serves a client while its stream is open. It treats the client like a stdio client: the
// stream is the proxy's output, and each POST request is a line of input.
func (h *handler) sse(w http.ResponseWriter, r *http.Request, v httpguard.Caller) {
	f := h.front
	stream := events.NewLines(w)
	out := lines.NewWriter(stream)
	out.OwnGoroutine = true // goroutines that read from shared upstreams send to this client, and must not wait for it
	c, refusal := h.sessionLimit.open(f, v.Principal, "sse", r.Header, out)
	if c == nil {
		http.Error(w, refusal, http.StatusTooManyRequests)
		return
	}
	inner, stop := v.Stream(r.Context())
	defer stop()
	ctx, cancel := context.WithCancelCause(inner)
	s := &reader{Front: f, client: c, ctx: ctx, out: out}
	h.sse2024.Store(c.ID, s) // store the reader before the client learns the address for its messages
	stream.Begin(messagesPath + "?sessionId=" + c.ID)
	defer func() {
		h.sse2024.Delete(c.ID)
		s.end()
		cancel(spec.ErrGone)
		f.Router.DropClient(c)
		s.calls.Wait()
		select {
		case <-out.Broken(): // the client has stopped reading, so abort the current write
			_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
		default:
		}
		out.Close()
		out.AwaitIdle() // nothing may be written after this handler returns
	}()
	tick := time.NewTicker(events.KeepAlive)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			stream.Comment()
		case <-f.Streaming.Done():
			f.awaitAnswers(ctx, c, out)
			return
		case <-ctx.Done():
			return
		case <-out.Broken():
			return
		}
	}
}

// messages serves a POST request with a client's message. The JSON-RPC response is sent on the
// stream.
func (h *handler) messages(w http.ResponseWriter, r *http.Request, v httpguard.Caller) {
	if !checkMediaType(w, r) {
		return
	}
	body, release, ok := v.Body(w, r)
	if !ok {
		return
	}
	defer release()
	found, _ := h.sse2024.Load(r.URL.Query().Get("sessionId"))
	s, _ := found.(*reader)
	turn := h.turn(v)
	if !isInitialize(body) { // an initialize request may wait for upstreams
		if !turn.Acquire(r.Context().Done()) {
			return // the client has disconnected
		}
		defer turn.Release()
	}
	if s == nil || s.client.Principal != v.Principal || !s.take(body) {
		http.Error(w, "unknown session", http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// isInitialize reports whether the message is an initialize request. It does not parse large
// messages, and returns false for them.
func isInitialize(body []byte) bool {
	if len(body) > pipeline.MaxKeptWhole {
		return false
	}
	m, fault := wire.Parse(body, pipeline.MaxKeptWhole)
	return fault == nil && m.Method == "initialize"
}
