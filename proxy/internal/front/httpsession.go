package front

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// retryAfter is the value of the Retry-After header while the database is unavailable. It must not
// be modified.
var retryAfter = []string{"1"}

// serveInSession serves a message in a revision that has sessions.
func (h *handler) serveInSession(x *exchange, m wire.Message, meta wire.Meta) {
	w, r, principal := x.w, x.r, x.caller.Principal
	if v := firstHeader(r, protocolHeader); v != "" && !mcp.IsValidProtocolVersion(v) {
		http.Error(w, "unsupported protocol version", http.StatusBadRequest)
		return
	}
	if !spec.IsCall(m.Method) {
		x.turn.Release()
	}
	if m.Kind == wire.Request && m.Method == "initialize" {
		h.initialize(w, r, principal, m, meta)
		return
	}
	c := h.client(w, r, principal, spec.IsCall(m.Method))
	if c == nil {
		return
	}
	if h.belongsElsewhere(c, m) {
		http.Error(w, "this process has no such request in this session: with several replicas, the load balancer must route all messages of a session to one of them", http.StatusMisdirectedRequest)
		return
	}
	switch m.Kind {
	case wire.Response:
		c.ClientRequests.Response(m)
		w.WriteHeader(http.StatusAccepted)
	case wire.Notification:
		h.front.Router.ClientNotification(c, m)
		w.WriteHeader(http.StatusAccepted)
	default:
		h.request(x, c, m, meta)
	}
}

// belongsElsewhere reports whether a message concerns a request of another replica. Such a message
// either responds to a request that the other replica has sent to the client, or cancels a request
// that the client has sent to the other replica.
func (h *handler) belongsElsewhere(c *session.Client, m wire.Message) bool {
	switch {
	case !h.front.Sessions.Shared():
		return false
	case m.Kind == wire.Response:
		return c.ClientRequests.AskedElsewhere(m.ID)
	}
	return m.Kind == wire.Notification && m.Method == "notifications/cancelled" && !c.Requests.Knows(m.Params)
}

// initialize opens a session that only the given principal can use.
func (h *handler) initialize(w http.ResponseWriter, r *http.Request, principal string, m wire.Message, meta wire.Meta) {
	f := h.front
	if fault := wire.CheckHandshake(m); fault != nil {
		reject(w, http.StatusBadRequest, m.ID, fault)
		return
	}
	if firstHeader(r, sessionHeader) != "" {
		reject(w, http.StatusBadRequest, m.ID, wire.NewFault(wire.CodeInvalidRequest, "initialize opens a session; do not send it within one"))
		return
	}
	c, refusal := h.sessionLimit.open(f, principal, "http", r.Header, events.NewPush(session.IsChange))
	if c == nil {
		reject(w, http.StatusTooManyRequests, m.ID, wire.NewFault(wire.CodeInternal, refusal))
		return
	}
	s := newPost(w, r, m, nil)
	defer s.Finish(r)
	defer f.Life.Recover(m.Method, m.ID, s)
	w.Header().Set(sessionHeader, c.ID)
	q := session.Request{Client: c, Message: m, Meta: meta, Stream: s}
	result, err := f.Router.ClientRequest(r.Context(), q)
	if f.Sessions.Introduce(c) != nil {
		f.Router.EndClient(c)
		w.Header().Del(sessionHeader)
		w.Header()["Retry-After"] = retryAfter
		failure := wire.AppendError(nil, m.ID, wire.CodeInternal, "cannot store the session now: the state database is unavailable; try again later", nil)
		if !s.Refuse(http.StatusServiceUnavailable, failure) {
			s.Reply(failure)
		}
		return
	}
	q.Answer(result, err)
}

// client returns the client of the session that the request names. If another replica opened the
// session, or this one did before a restart, client restores it here. It writes an error response
// and returns nil if the principal has no such session, the request is invalid, or the database
// cannot be read. If isCall is false, it also checks whether another replica has ended the session.
// For calls, package pipeline checks that.
func (h *handler) client(w http.ResponseWriter, r *http.Request, principal string, isCall bool) *session.Client {
	id := firstHeader(r, sessionHeader)
	if id == "" {
		http.Error(w, "the header "+sessionHeader+" is missing: send initialize first", http.StatusBadRequest)
		return nil
	}
	c := h.front.Sessions.Use(id, principal)
	if c != nil && !isCall && h.front.Router.IsOver(r.Context(), c) {
		c = nil
	} else if c == nil {
		var err error
		if c, err = h.front.Router.Restore(r.Context(), id, principal); err != nil {
			w.Header()["Retry-After"] = retryAfter
			http.Error(w, "cannot look up the session now: the state database is unavailable", http.StatusServiceUnavailable)
			return nil
		}
	}
	if c == nil {
		http.Error(w, "unknown session", http.StatusNotFound)
		return nil
	}
	if err := h.front.Sessions.Agrees(c, r.Header); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil
	}
	return c
}

// delete serves a DELETE request, which ends a session.
func (h *handler) delete(w http.ResponseWriter, r *http.Request, principal string) {
	if isStateless(w, r, "sessions") {
		return
	}
	if c := h.client(w, r, principal, false); c != nil {
		h.front.Router.EndClient(c)
		w.WriteHeader(http.StatusOK)
	}
}

// request serves a request within a session. Only notifications/cancelled cancels the request; a
// lost connection does not.
func (h *handler) request(x *exchange, c *session.Client, m wire.Message, meta wire.Meta) {
	f := h.front
	s := newPost(x.w, x.r, m, resumeLogs(c))
	x.post = s
	defer f.Life.Recover(m.Method, m.ID, s)
	if !spec.IsCall(m.Method) {
		q := session.Request{Client: c, Message: m, Meta: meta, Stream: s}
		if serve := f.begin(context.WithoutCancel(x.r.Context()), q); serve != nil {
			serve()
		}
		return
	}
	t, ok := f.Pipeline.Prepare(c, m, meta, s)
	if !ok {
		return
	}
	t.Turn = x.turn
	if !c.Requests.Begin(t.IDKey, t) {
		f.duplicateCall(t)
		return
	}
	if f.Life.Ctx.Err() != nil { // the proxy began to shut down before the call was registered, so expireClients may have missed it
		t.Cancel(spec.ErrClosing)
	}
	f.Pipeline.Begin(f.Life.Ctx, t)
	x.call = t
}
