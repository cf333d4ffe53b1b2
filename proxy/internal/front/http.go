package front

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

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

// Handler returns an HTTP handler for streamable HTTP, in all supported revisions, and for HTTP+SSE
// (2024-11-05) at /sse and /messages. [Access] configures who can use it.
func (f *Front) Handler(a Access) (http.Handler, error) {
	a.Path = cmp.Or(a.Path, defaultPath)
	if a.Path[0] != '/' {
		return nil, fmt.Errorf("the endpoint path %q must begin with a slash", a.Path)
	}
	guard, err := httpguard.New(a, httpguard.Options{
		MaxMessage: f.MaxRequest, Now: f.Life.Now, Logger: f.Life.Log,
		Background: func(run func(context.Context)) { f.Life.Background(func() { run(f.Life.Ctx) }) },
	})
	if err != nil {
		return nil, err
	}
	each := cmp.Or(a.MaxSessions, defaultSessions)
	limit := &sessionLimit{each: each, all: cmp.Or(a.MaxAll, max(defaultSessionsAll, each))}
	h := &handler{front: f, path: a.Path, guard: guard, hooks: a.Hooks, sessionLimit: limit, beside: a.Beside}
	if a.Several() {
		f.Sessions.SeveralPrincipals.Store(true)
		h.turns = turns.New()
	}
	f.Life.Background(func() { f.expireClients(a.IdleTTL) })
	return h, nil
}

// ServeHTTP serves the requests that the guard allows, and refuses all others.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.guard.Begin(w, r)
	h.exchange(&exchange{w: w, r: r})
	h.guard.End(w, r)
}

// exchange serves a request until its response ends. It waits for a call only after serve has
// returned, so that the goroutine needs little stack memory during a long wait.
func (h *handler) exchange(x *exchange) {
	defer h.end(x)
	h.serve(x)
	if x.call != nil {
		h.wait(x.call)
	}
}

// wait returns once the call has been answered.
func (h *handler) wait(c *pipeline.Call) {
	defer h.front.Life.Recover(c.Method, c.ID, c.Stream)
	c.Wait()
}

// end releases all resources acquired by the exchange, even if releasing one of them panics.
func (h *handler) end(x *exchange) {
	defer x.caller.Release()
	if x.release != nil {
		defer x.release()
	}
	defer x.turn.Release()
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
		served := h.beside != nil && h.beside(w, r, h.guard.Trusted(r))
		if !served && !h.guard.Metadata(w, r) && !h.serveSSE(w, r) {
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

// post serves a POST request, which contains one message.
func (h *handler) post(x *exchange) {
	w, r := x.w, x.r
	if !checkMediaType(w, r) {
		return
	}
	body, release, ok := x.caller.Body(w, r)
	if !ok {
		return
	}
	x.release = release
	x.turn = h.turn(x.caller)
	if !x.turn.Acquire(r.Context().Done()) {
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
	meta, fault := wire.ParseMeta(m)
	if fault != nil {
		reject(w, http.StatusBadRequest, m.ID, fault)
		return
	}
	if rev.Of(meta.ProtocolVersion).PerRequest || mcp.IsModernProtocol(firstHeader(r, protocolHeader)) {
		h.stateless(x, m, meta)
		return
	}
	h.serveInSession(x, m, meta)
}

// stateless serves a message of revision 2026-07-28. The message itself describes its client and
// the client's capabilities, and the headers must not contradict it.
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
		s.Reply(wire.AppendError(nil, m.ID, wire.CodeInvalidParams, "Invalid params: "+err.Error()+".", nil))
		return
	}
	c := f.Sessions.NewClient(v.Principal, state)
	x.client = c
	if m.Kind != wire.Request {
		f.Router.ClientNotification(c, m) // Finish responds that the notification was accepted
		return
	}
	defer f.Life.Recover(m.Method, m.ID, s)
	if spec.IsCall(m.Method) {
		if t, ok := f.Pipeline.Prepare(c, m, meta, s); ok {
			t.Headers, t.Turn = r.Header, x.turn
			x.bound = context.AfterFunc(r.Context(), func() { t.Cancel(spec.ErrGone) })
			f.Pipeline.Begin(r.Context(), t)
			x.call = t
		}
		return
	}
	x.turn.Release()
	ctx := r.Context()
	if m.Method == "subscriptions/listen" {
		stream, cancel := v.Stream(ctx)
		defer cancel()
		ctx = stream
	}
	q := session.Request{Client: c, Message: m, Meta: meta, Stream: s}
	q.Answer(f.Router.ClientRequest(ctx, q))
}

// get serves a GET request for the stream of messages that belong to no request.
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

// hookPath is the beginning of the path for hook events; the rest is the name of the agent.
const hookPath = "/hook/"

// hook serves an event from an agent's hook. If the event cannot be read, hook returns an HTTP
// error. Most agents then let the call pass, so they must be configured to block it.
func (h *handler) hook(x *exchange, agent string) {
	w, r := x.w, x.r
	v, ok := h.guard.Admit(w, r)
	if !ok {
		return
	}
	x.caller = v
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	if !checkMediaType(w, r) {
		return
	}
	body, release, ok := x.caller.Body(w, r)
	if !ok {
		return
	}
	x.release = release
	answer, err := h.front.Hook(r.Context(), v.Principal, agent, r, body)
	if err != nil {
		httpguard.Reject(w)
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer) // fails only if the agent has disconnected
}
