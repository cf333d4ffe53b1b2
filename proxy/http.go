package proxy

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/httpguard"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Names of the headers of streamable HTTP.
const (
	sessionHeader  = "Mcp-Session-Id"
	protocolHeader = "Mcp-Protocol-Version"
)

// codeHeaderMismatch is of revision 2026-07-28.
const codeHeaderMismatch = -32020

// onlyOnce are the headers that must not be given twice.
var onlyOnce = [...]string{protocolHeader, sessionHeader, "Mcp-Method", "Mcp-Name", "Content-Type"}

// A handler is the streamable HTTP endpoint of a proxy.
type handler struct {
	proxy        *Proxy
	path         string
	guard        *httpguard.Guard
	sessionLimit *sessionLimit
	turns        *turns // nil: one principal comes
	sse2024      sseClients
}

// Handler serves streamable HTTP, both families of revisions at once, and for clients of revision
// 2024-11-05 its two endpoints at /sse and /messages. It wants to know who may
// come in; see [Access].
func (p *Proxy) Handler(a Access) (http.Handler, error) {
	guard, err := p.guard(a)
	if err != nil {
		return nil, err
	}
	if a.several() {
		p.several.Store(true)
	}
	p.background(func() { p.expireClients(a.IdleTTL) })
	h := &handler{proxy: p, path: a.path(), guard: guard, sessionLimit: newSessionLimit(a)}
	if a.several() {
		h.turns = newTurns()
	}
	return h, nil
}

// ServeHTTP serves only requests that the guard admits.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.guard.Begin(w, r)
	h.serve(w, r)
	h.guard.End(w, r)
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != h.path {
		if !h.guard.Metadata(w, r) && !h.serveSSE(w, r) {
			httpguard.Reject(w)
			http.NotFound(w, r)
		}
		return
	}
	v, ok := h.guard.Admit(w, r)
	if !ok {
		return
	}
	defer v.Release()
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, v)
	case http.MethodGet:
		h.get(w, r, v)
	case http.MethodDelete:
		h.delete(w, r, v.Principal)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// post takes one message.
func (h *handler) post(w http.ResponseWriter, r *http.Request, v httpguard.Caller) {
	if !acceptable(w, r) {
		return
	}
	body, release, ok := v.Body(w, r)
	if !ok {
		return
	}
	defer release()
	turn := h.turn(v)
	if !turn.take(r.Context().Done()) {
		return // the client is gone
	}
	defer turn.leave()
	m, fault := wire.Parse(body, wire.Limits{Size: h.proxy.maxRequest})
	if fault != nil && fault.Silent {
		http.Error(w, fault.Message, http.StatusBadRequest)
		return
	}
	if fault != nil {
		writeJSON(w, http.StatusBadRequest, fault.Append(nil))
		return
	}
	meta, fault := wire.ParseMeta(m.Params)
	if fault != nil {
		fault.ID = m.ID
		writeJSON(w, http.StatusBadRequest, fault.Append(nil))
		return
	}
	if rev.Of(meta).PerRequest || mcp.IsModernProtocol(first(r, protocolHeader)) {
		h.stateless(w, r, v, turn, m, meta)
		return
	}
	h.inSession(w, r, v.Principal, turn, m, meta)
}

// turn is that of a message which v has sent.
func (h *handler) turn(v httpguard.Caller) *turn {
	if h.turns == nil {
		return nil
	}
	return &turn{of: h.turns, principal: v.Principal}
}

// acceptable checks what the request says of its body. What is not plainly
// JSON is refused, never passed on unread.
func acceptable(w http.ResponseWriter, r *http.Request) bool {
	for _, name := range onlyOnce {
		if len(r.Header[name]) > 1 {
			http.Error(w, "the header "+name+" is given twice", http.StatusBadRequest)
			return false
		}
	}
	if !plainJSON(first(r, "Content-Type")) {
		http.Error(w, "the body must be application/json in UTF-8", http.StatusUnsupportedMediaType)
		return false
	}
	if e := first(r, "Content-Encoding"); e != "" && e != "identity" {
		http.Error(w, "the body must not be encoded", http.StatusUnsupportedMediaType)
		return false
	}
	return true
}

// plainJSON reports whether a content type is JSON in UTF-8.
func plainJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && kind == "application/json" && (!given || strings.EqualFold(charset, "utf-8"))
}

// first is the value of a header whose name is in canonical form.
func first(r *http.Request, name string) string {
	if values := r.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// stateless serves one message of revision 2026-07-28: who sends it and what
// it can do stand in the message, and the headers must say the same.
func (h *handler) stateless(w http.ResponseWriter, r *http.Request, v httpguard.Caller, turn *turn, m wire.Message, meta wire.Meta) {
	if status, refusal := checkHeaders(r, m, meta); refusal != nil {
		writeJSON(w, status, refusal)
		return
	}
	p := h.proxy
	s := newPost(w, r, m, nil)
	defer s.Finish(r)
	c := p.sessions.newClient("http", v.Principal, p.sessions.of(v.Principal), nil)
	defer p.dropClient(c)
	if m.Kind != wire.Request {
		p.notified(c, m) // finish says that it was accepted
		return
	}
	defer p.recovered(m.Method, m.ID, s)
	if !isCall(m.Method) {
		turn.leave()
	}
	if m.Method == "subscriptions/listen" {
		ctx, cancel := v.Stream(r.Context())
		defer cancel()
		p.dispatch(ctx, c, m, meta, s)
	} else if !isCall(m.Method) {
		p.dispatch(r.Context(), c, m, meta, s)
	} else if t, ok := p.prepare(c, m, meta, s); ok {
		t.headers, t.turn = r.Header, turn
		p.serveCall(r.Context(), t, errGone)
	}
}

// checkHeaders compares the headers with the message. The gate always decides
// on the message.
func checkHeaders(r *http.Request, m wire.Message, meta wire.Meta) (status int, refusal []byte) {
	header := first(r, protocolHeader)
	mismatch := func(text string) (int, []byte) {
		return http.StatusBadRequest, wire.AppendError(nil, m.ID, codeHeaderMismatch, text, nil)
	}
	switch {
	case header == "":
		return mismatch(protocolHeader + " header is required")
	case meta.ProtocolVersion == "":
		return http.StatusBadRequest, wire.AppendError(nil, m.ID, codeInvalidParams, "missing _meta field "+mcp.MetaKeyProtocolVersion, nil)
	case header != meta.ProtocolVersion:
		return mismatch(protocolHeader + " header does not match the request")
	case r.Header.Get("Last-Event-ID") != "":
		return mismatch("streams of this revision are not resumable")
	case !mcp.IsValidProtocolVersion(header):
		return http.StatusBadRequest, unsupportedVersion(m.ID, header)
	case m.Kind != wire.Request:
		return 0, nil
	}
	if named := first(r, mcp.HeaderName); aboutTask(m.Method) && named != "" && named != member(m.Params, "taskId") {
		return mismatch(mcp.HeaderName + " header does not match the request")
	}
	if err := mcp.ValidateStandardHeaders(r.Header.Get, header, mcp.MCPMethod(m.Method), m.Params); err != nil {
		return mismatch(err.Error())
	}
	return 0, nil
}

// inSession serves one message of a revision with sessions.
func (h *handler) inSession(w http.ResponseWriter, r *http.Request, principal string, turn *turn, m wire.Message, meta wire.Meta) {
	if v := first(r, protocolHeader); v != "" && !mcp.IsValidProtocolVersion(v) {
		http.Error(w, "unsupported protocol version", http.StatusBadRequest)
		return
	}
	if !isCall(m.Method) {
		turn.leave()
	}
	if m.Kind == wire.Request && m.Method == "initialize" {
		h.initialize(w, r, principal, m, meta)
		return
	}
	c := h.client(w, r, principal)
	if c == nil {
		return
	}
	switch m.Kind {
	case wire.Response:
		c.questions.response(m)
		w.WriteHeader(http.StatusAccepted)
	case wire.Notification:
		h.proxy.notified(c, m)
		w.WriteHeader(http.StatusAccepted)
	default:
		h.request(w, r, c, turn, m, meta)
	}
}

// initialize opens a session, bound to the principal.
func (h *handler) initialize(w http.ResponseWriter, r *http.Request, principal string, m wire.Message, meta wire.Meta) {
	p := h.proxy
	if fault := wire.CheckHandshake(m); fault != nil {
		writeJSON(w, http.StatusBadRequest, fault.Append(nil))
		return
	}
	if first(r, sessionHeader) != "" {
		writeJSON(w, http.StatusBadRequest, wire.AppendError(nil, m.ID, codeInvalidRequest, "initialize opens a session; it cannot be sent within one", nil))
		return
	}
	c, refusal := h.sessionLimit.open(p, principal, "http", events.NewPush(isNews))
	if c == nil {
		writeJSON(w, http.StatusTooManyRequests, wire.AppendError(nil, m.ID, codeInternal, refusal, nil))
		return
	}
	s := newPost(w, r, m, nil)
	defer s.Finish(r)
	defer p.recovered(m.Method, m.ID, s)
	w.Header().Set(sessionHeader, c.id)
	p.dispatch(r.Context(), c, m, meta, s)
}

// request serves a request within a session. A connection that is lost does
// not cancel it: only the client's word does.
func (h *handler) request(w http.ResponseWriter, r *http.Request, c *client, turn *turn, m wire.Message, meta wire.Meta) {
	p := h.proxy
	s := newPost(w, r, m, c.resumable())
	defer s.Finish(r)
	defer p.recovered(m.Method, m.ID, s)
	if isCall(m.Method) {
		t, ok := p.prepare(c, m, meta, s)
		if ok {
			t.turn = turn
		}
		switch {
		case !ok:
		case !c.requests.begin(wire.IDKey(m.ID), t):
			p.duplicateCall(t)
		default:
			p.serveCall(p.ctx, t, errClosing)
		}
		return
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	defer cancel(nil)
	if !c.requests.begin(wire.IDKey(m.ID), cancelFunc(cancel)) {
		p.duplicate(c, m, s)
		return
	}
	defer c.requests.answered()
	end := sync.OnceFunc(func() { c.requests.end(wire.IDKey(m.ID)) })
	defer end()
	p.dispatch(ctx, c, m, meta, ending{s, end})
}

// newPost is the answer to m, which its client can take up again from logs.
func newPost(w http.ResponseWriter, r *http.Request, m wire.Message, logs *events.Logs) *events.Post {
	return events.NewPost(w, events.PostOptions{
		Method: m.Method, ID: m.ID, Modern: first(r, protocolHeader) >= "2026-07-28", Accept: first(r, "Accept"), Logs: logs,
	})
}

// resumable is where the streams of a session are kept for a client that knows
// how to take them up again; nil: it does not.
func (c *client) resumable() *events.Logs {
	if !events.Resumable(c.speaker(wire.Meta{}).protocol) {
		return nil
	}
	return &c.streams
}

// client is the one whose session the request names, if it is the principal's.
func (h *handler) client(w http.ResponseWriter, r *http.Request, principal string) *client {
	id := first(r, sessionHeader)
	if id == "" {
		http.Error(w, "the header "+sessionHeader+" is missing: send initialize first", http.StatusBadRequest)
		return nil
	}
	c := h.proxy.sessions.use(id, principal)
	if c == nil {
		http.Error(w, "unknown session", http.StatusNotFound)
	}
	return c
}

// get opens the stream for what belongs to no request.
func (h *handler) get(w http.ResponseWriter, r *http.Request, v httpguard.Caller) {
	if mcp.IsModernProtocol(first(r, protocolHeader)) {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "this revision has no GET stream", http.StatusMethodNotAllowed)
		return
	}
	c := h.client(w, r, v.Principal)
	if c != nil && !c.streams.Resume(w, r, h.proxy.streaming.Done()) {
		ctx, cancel := v.Stream(r.Context())
		defer cancel()
		push, _ := c.out.(*events.Push)
		push.Serve(w, r.WithContext(ctx), events.Resumable(c.speaker(wire.Meta{}).protocol), h.proxy.streaming.Done())
	}
}

// delete ends a session.
func (h *handler) delete(w http.ResponseWriter, r *http.Request, principal string) {
	if mcp.IsModernProtocol(first(r, protocolHeader)) {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "this revision has no sessions", http.StatusMethodNotAllowed)
		return
	}
	if c := h.client(w, r, principal); c != nil {
		h.proxy.endClient(c)
		w.WriteHeader(http.StatusOK)
	}
}

// expireClients ends sessions over HTTP that were idle for ttl.
func (p *Proxy) expireClients(ttl time.Duration) {
	if ttl == 0 {
		ttl = time.Hour
	}
	tick := time.NewTicker(ttl / 8)
	defer tick.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
		}
		for _, c := range p.sessions.clients() {
			if p.idle(c, ttl) {
				p.log.Info("session expired", "session", c.session.id)
				p.endClient(c)
			}
		}
	}
}

// idle reports whether nobody has used a session for ttl. While it is used, by
// an open call or stream, it counts as seen.
func (p *Proxy) idle(c *client, ttl time.Duration) bool {
	push, ok := c.out.(*events.Push)
	if !ok {
		return false
	}
	return p.sessions.idle(c, c.requests.any() || push.Listening(), ttl)
}

// unsupportedVersion is the answer of 2026-07-28 to a version that is not spoken.
func unsupportedVersion(id []byte, version string) []byte {
	e := mcp.UnsupportedProtocolVersionError{Version: version, Supported: mcp.ValidProtocolVersions}.JSONRPCError()
	return errorReply(id, e.Error)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// errorReply writes an error of mcp-go under the id of the client.
func errorReply(id []byte, e any) []byte {
	body, err := json.Marshal(e)
	if err != nil {
		return wire.AppendError(nil, id, codeInternal, "no answer could be made", nil)
	}
	return append(append(wire.ErrorHead(id), body...), wire.Tail...)
}
