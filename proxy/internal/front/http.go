package front

import (
	"context"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/httpguard"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/turns"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Header names of streamable HTTP.
const (
	sessionHeader  = "Mcp-Session-Id"
	protocolHeader = "Mcp-Protocol-Version"
)

// onlyOnce are the headers that must not be repeated.
var onlyOnce = [...]string{protocolHeader, sessionHeader, "Mcp-Method", "Mcp-Name", "Content-Type"}

// A handler is the HTTP endpoint of a proxy.
type handler struct {
	front        *Front
	path         string
	guard        *httpguard.Guard
	hooks        bool // the hooks of agents are served
	sessionLimit *sessionLimit
	turns        *turns.Turns // nil: there is only one principal
	beside       func(w http.ResponseWriter, r *http.Request, trusted bool) bool
	sse2024      sync.Map // *sseClient by id
}

// Handler returns an HTTP handler for streamable HTTP of both families of revisions, and for
// HTTP+SSE (2024-11-05) at /sse and /messages. [Access] configures who can use it.
func (f *Front) Handler(a Access) (http.Handler, error) {
	guard, err := f.guard(a)
	if err != nil {
		return nil, err
	}
	if a.Several() {
		f.Sessions.SeveralPrincipals.Store(true)
	}
	f.Life.Background(func() { f.expireClients(a.IdleTTL) })
	h := &handler{front: f, path: a.path(), guard: guard, hooks: a.Hooks, sessionLimit: newSessionLimit(a), beside: a.Beside}
	if a.Several() {
		h.turns = turns.New()
	}
	return h, nil
}

// An exchange is one HTTP request until its response has ended. It holds the resources to release
// then, so that the functions that acquire them can return while the call waits.
type exchange struct {
	w http.ResponseWriter
	r *http.Request

	caller  httpguard.Caller
	release func()          // stops counting the body; nil: no body was read
	turn    *turns.Turn     // turn for the message
	post    *events.Post    // nil: the response is not a JSON-RPC message
	client  *session.Client // client of this request alone; nil: the client belongs to a session
	bound   func() bool     // unbinds the call from the connection; nil: not bound
	call    *pipeline.Call  // nil: the request is not a call, or is answered
}

// ServeHTTP serves requests that the guard admits, and refuses others.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.guard.Begin(w, r)
	h.exchange(&exchange{w: w, r: r})
	h.guard.End(w, r)
}

// exchange serves a request to the end of its response. A call waits here, near the bottom of the
// stack: people take a long time, and a deep stack would stay large meanwhile.
func (h *handler) exchange(x *exchange) {
	defer h.end(x)
	h.serve(x)
	if x.call != nil {
		h.wait(x.call)
	}
}

// wait returns when the call is answered.
func (h *handler) wait(c *pipeline.Call) {
	defer h.front.Life.Recovered(c.Method, c.ID, c.Stream)
	c.Wait()
}

// end releases the resources that the exchange has acquired, all of them even if one release
// panics.
func (h *handler) end(x *exchange) {
	defer x.caller.Release()
	if x.release != nil {
		defer x.release()
	}
	defer x.turn.Leave()
	if x.post != nil {
		defer x.post.Finish(x.r)
	}
	if x.client != nil {
		defer h.front.Router.DropClient(x.client)
	}
	if x.bound != nil {
		x.bound()
	}
}

func (h *handler) serve(x *exchange) {
	w, r := x.w, x.r
	if r.URL.Path != h.path {
		if agent, ok := strings.CutPrefix(r.URL.Path, hookPath); ok && h.hooks {
			h.hook(x, agent)
			return
		}
		if !h.serveBeside(w, r) && !h.guard.Metadata(w, r) && !h.serveSSE(w, r) {
			httpguard.Reject(w)
			http.NotFound(w, r)
		}
		return
	}
	v, ok := h.guard.Admit(w, r)
	if !ok {
		return
	}
	x.caller = v
	switch r.Method {
	case http.MethodPost:
		h.post(x)
	case http.MethodGet:
		h.get(w, r, v)
	case http.MethodDelete:
		h.delete(w, r, v.Principal)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// serveBeside serves paths that are not MCP endpoints. It reports false for unknown paths.
func (h *handler) serveBeside(w http.ResponseWriter, r *http.Request) bool {
	return h.beside != nil && h.beside(w, r, h.guard.Trusted(r))
}

// post serves a POST, which carries one message.
func (h *handler) post(x *exchange) {
	w, r := x.w, x.r
	if !acceptable(w, r) {
		return
	}
	body, release, ok := x.caller.Body(w, r)
	if !ok {
		return
	}
	x.release = release
	x.turn = h.turn(x.caller)
	if !x.turn.Take(r.Context().Done()) {
		return // the client has disconnected
	}
	m, fault := wire.Parse(body, h.front.MaxRequest)
	if fault != nil && fault.Silent {
		http.Error(w, fault.Message, http.StatusBadRequest)
		return
	}
	if fault != nil {
		reject(w, http.StatusBadRequest, fault.ID, fault)
		return
	}
	meta, fault := wire.ParseMeta(m.Params)
	if fault != nil {
		reject(w, http.StatusBadRequest, m.ID, fault)
		return
	}
	if rev.Of(meta).PerRequest || mcp.IsModernProtocol(first(r, protocolHeader)) {
		h.stateless(x, m, meta)
		return
	}
	h.inSession(x, m, meta)
}

// turn returns the turn for a caller's message, or nil if turns are not limited.
func (h *handler) turn(v httpguard.Caller) *turns.Turn {
	if h.turns == nil {
		return nil
	}
	return &turns.Turn{Of: h.turns, Principal: v.Principal}
}

// acceptable refuses a request whose headers do not clearly declare its body as JSON.
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

// first returns the first value of a header. name must be in canonical form.
func first(r *http.Request, name string) string {
	if values := r.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// stateless serves one message of revision 2026-07-28. The message itself identifies its client and
// the client's capabilities, and the headers must agree with it.
func (h *handler) stateless(x *exchange, m wire.Message, meta wire.Meta) {
	w, r, v := x.w, x.r, x.caller
	if fault := checkHeaders(r, m, meta); fault != nil {
		reject(w, http.StatusBadRequest, m.ID, fault)
		return
	}
	f := h.front
	s := newPost(w, r, m, nil)
	x.post = s
	state, err := f.Sessions.Of(session.Origin{Principal: v.Principal, Header: r.Header, Params: m.Params})
	if err != nil {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeInvalidParams, "Invalid params: "+err.Error()+".", nil))
		return
	}
	c := f.Sessions.NewClient(v.Principal, state)
	x.client = c
	if m.Kind != wire.Request {
		f.Router.ClientNotification(c, m) // Finish responds that it was accepted
		return
	}
	defer f.Life.Recovered(m.Method, m.ID, s)
	if spec.IsCall(m.Method) {
		if t, ok := f.Pipeline.Prepare(c, m, meta, s); ok {
			t.Headers, t.Turn = r.Header, x.turn
			x.bound = context.AfterFunc(r.Context(), func() { t.Cancel(spec.ErrGone) })
			f.Pipeline.Begin(r.Context(), t)
			x.call = t
		}
		return
	}
	x.turn.Leave()
	ctx := r.Context()
	if m.Method == "subscriptions/listen" {
		stream, cancel := v.Stream(ctx)
		defer cancel()
		ctx = stream
	}
	q := session.Request{Client: c, Message: m, Meta: meta, Stream: s}
	q.Answer(f.Router.ClientRequest(ctx, q))
}

// checkHeaders returns a fault if the headers disagree with the message. The gate always decides on
// the message.
func checkHeaders(r *http.Request, m wire.Message, meta wire.Meta) *wire.Fault {
	header := first(r, protocolHeader)
	mismatch := func(text string) *wire.Fault { return wire.NewFault(spec.CodeHeaderMismatch, text) }
	switch {
	case header == "":
		return mismatch(protocolHeader + " header is required")
	case meta.ProtocolVersion == "":
		return wire.NewFault(spec.CodeInvalidParams, "missing _meta field "+mcp.MetaKeyProtocolVersion)
	case header != meta.ProtocolVersion:
		return mismatch(protocolHeader + " header does not match the request")
	case r.Header.Get("Last-Event-ID") != "":
		return mismatch("streams of this revision are not resumable")
	case !mcp.IsValidProtocolVersion(header):
		return spec.UnsupportedVersion(header)
	case m.Kind != wire.Request:
		return nil
	}
	if named := first(r, mcp.HeaderName); spec.NamesTask(m.Method) && named != "" && named != spec.Member(m.Params, "taskId") {
		return mismatch(mcp.HeaderName + " header does not match the request")
	}
	if err := mcp.ValidateStandardHeaders(r.Header.Get, header, mcp.MCPMethod(m.Method), m.Params); err != nil {
		return mismatch(err.Error())
	}
	return nil
}

// request serves a request within a session. Only notifications/cancelled cancels it, not a lost
// connection.
func (h *handler) request(x *exchange, c *session.Client, m wire.Message, meta wire.Meta) {
	f := h.front
	s := newPost(x.w, x.r, m, resumable(c))
	x.post = s
	defer f.Life.Recovered(m.Method, m.ID, s)
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
	if !c.Requests.Begin(wire.IDKey(m.ID), t) {
		f.duplicateCall(t)
		return
	}
	if f.Life.Ctx.Err() != nil { // expireClients might have missed it
		t.Cancel(spec.ErrClosing)
	}
	f.Pipeline.Begin(f.Life.Ctx, t)
	x.call = t
}

// newPost returns the stream for the answer to m. The client can resume it from logs.
func newPost(w http.ResponseWriter, r *http.Request, m wire.Message, logs *events.Logs) *events.Post {
	return events.NewPost(w, events.PostOptions{
		Method: m.Method, ID: m.ID, Rev: rev.OfVersion(first(r, protocolHeader)), Accept: first(r, "Accept"), Logs: logs,
	})
}

// resumable returns the logs for resuming the client's streams, or nil if its revision does not
// support that.
func resumable(c *session.Client) *events.Logs {
	if !events.Resumable(c.PeerOf(wire.Meta{}).Protocol) {
		return nil
	}
	return &c.Streams
}

// get serves a GET: the stream for messages that belong to no request.
func (h *handler) get(w http.ResponseWriter, r *http.Request, v httpguard.Caller) {
	if isStateless(w, r, "GET stream") {
		return
	}
	c := h.client(w, r, v.Principal, false)
	if c != nil && !c.Streams.Resume(w, r, h.front.Streaming.Done()) {
		ctx, cancel := v.Stream(r.Context())
		defer cancel()
		push, _ := c.Out.(*events.Push)
		push.Serve(w, r.WithContext(ctx), events.Resumable(c.PeerOf(wire.Meta{}).Protocol), h.front.Streaming.Done())
	}
}

// isStateless refuses a request of revision 2026-07-28, which supports only POST. It reports
// whether it did.
func isStateless(w http.ResponseWriter, r *http.Request, lacks string) bool {
	if !mcp.IsModernProtocol(first(r, protocolHeader)) {
		return false
	}
	w.Header().Set("Allow", http.MethodPost)
	http.Error(w, "this revision has no "+lacks, http.StatusMethodNotAllowed)
	return true
}

// reject answers a message that is refused.
func reject(w http.ResponseWriter, status int, id []byte, fault *wire.Fault) {
	fault.ID = id
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(fault.Append(nil)) // a client that has disconnected needs no answer
}
