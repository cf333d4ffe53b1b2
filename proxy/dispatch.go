package proxy

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// dispatch serves one request of a client that is not a tools/call, and
// returns when it is answered. Both transports and both eras come through
// here. What is not named is refused, never relayed.
func (p *Proxy) dispatch(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream) {
	switch m.Method {
	case "tools/list":
		p.toolsList(ctx, c, m, meta, s)
	case "subscriptions/listen":
		p.listen(ctx, c, m, meta, s)
	case "logging/setLevel":
		if meta.Modern() { // each request says its level instead
			s.reply(wire.AppendError(nil, m.ID, codeNoMethod, "logging/setLevel is not of this revision", nil))
			return
		}
		p.setLevel(c, m, s)
	default:
		p.shakeHands(ctx, c, m, s)
	}
}

// notified takes a notification of a client.
func (p *Proxy) notified(c *client, m wire.Message) {
	switch m.Method {
	case "notifications/initialized":
		c.mu.Lock()
		c.initialized = true
		c.mu.Unlock()
	case "notifications/cancelled":
		c.cancelled(m.Params)
	case "tools/call":
		p.log.Warn("a call without an id is never made", "session", c.session.id)
	}
}

// prepare reads a tools/call and looks its tool up. Where that fails the call
// is answered, or in the first moments of the proxy the tool is still missing.
func (p *Proxy) prepare(c *client, m wire.Message, meta wire.Meta, s stream) (*toolCall, bool) {
	params, fault := wire.ParseCall(m)
	if fault != nil {
		p.log.Warn("malformed call refused", "session", c.session.id, "reason", fault.Message)
		s.reply(fault.Append(nil))
		return nil, false
	}
	t := &toolCall{proxy: p, client: c, stream: s, agent: c.speaker(meta), id: m.ID, params: params, meta: meta}
	t.found(p.known(params.Name))
	return t, true
}

// found sets the tool, and with it what the gate decides on.
func (t *toolCall) found(tool *tool) {
	if tool == nil {
		return
	}
	t.tool = tool
	t.gate = gate.Call{
		Tool: tool.exposed, Also: tool.also, Args: t.params.Arguments, Time: t.proxy.options.Now(),
		Upstream: tool.upstream.config.Name, Annotations: tool.annotates,
	}
	if t.client.session.by == "connection" {
		t.gate.ID = wire.IDKey(t.id)
	}
}

// accept serves a call that is prepared and noted. It waits only aside.
func (p *Proxy) accept(t *toolCall) {
	switch {
	case t.tool == nil:
		t.aside(func() { p.acceptLate(t) })
	case t.params.Task != nil:
		t.refuseAs(codeInvalidParams, "Calls as tasks are not supported yet; call "+t.tool.exposed+" without a task.")
	default:
		if err := t.mirrors(); err != nil {
			t.refuseAs(codeHeaderMismatch, err.Error())
			return
		}
		p.serve(t)
	}
}

// mirrors says where the headers do not repeat the arguments that the tool
// wants repeated.
func (t *toolCall) mirrors() error {
	if t.headers == nil || t.tool.mirrored == nil {
		return nil
	}
	lookup := func(name string) (string, bool) {
		values := t.headers.Values(name)
		return t.headers.Get(name), len(values) > 0
	}
	return mcp.ValidateParamHeadersLookup(lookup, t.tool.mirrored, t.params.Source())
}

// acceptLate waits for upstreams that are still starting.
func (p *Proxy) acceptLate(t *toolCall) {
	if t.found(p.awaitTool(t.ctx, t.params.Name)); t.tool != nil {
		p.accept(t)
		return
	}
	p.log.Warn("call of an unknown tool refused", "tool", visible(t.params.Name), "session", t.client.session.id)
	text := "Unknown tool: " + visible(t.params.Name)
	if down := p.down(); down != "" {
		text += ". It may be one of an upstream that is not running: " + down
	}
	t.refuseAs(codeInvalidParams, text)
}

// refuseAs answers with a JSON-RPC error.
func (t *toolCall) refuseAs(code int, text string) {
	wanted := t.wanted()
	t.conclude(func() {
		if wanted {
			t.stream.reply(wire.AppendError(nil, t.id, code, text, nil))
		}
	})
}

// maxNotes is how many notifications of a call wait for a client that does
// not read.
const maxNotes = 256

// toolsCall serves a call on the goroutine of its client, and returns when it
// is answered. The end of ctx cancels the call, for that reason.
func (p *Proxy) toolsCall(ctx context.Context, t *toolCall, reason error) {
	t.landed = make(chan upstream.Reply, 1)
	if t.meta.ProgressToken != nil && t.tool != nil && t.tool.upstream.config.URL == "" {
		t.notes = make(chan []byte, maxNotes)
	}
	t.aside = func(f func()) {
		t.bind(ctx)
		f()
	}
	defer context.AfterFunc(ctx, func() { t.cancel(reason) })()
	p.accept(t)
	t.mu.Lock()
	f := t.flight
	t.mu.Unlock()
	if f != nil {
		f.await()
	}
}

// toolsList answers with the list as it is kept. There is one page.
func (p *Proxy) toolsList(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream) {
	if _, paged := rawjson.Member(m.Params, "cursor"); paged {
		s.reply(wire.AppendError(nil, m.ID, codeInvalidParams, "Unknown cursor: the list has one page.", nil))
		return
	}
	p.awaitList(ctx)
	c.mu.Lock()
	c.listed = true
	c.mu.Unlock()
	view := p.catalogue.load()
	list := view.list
	if meta.Modern() {
		list = view.modern
	}
	s.reply(wire.ResultHead(m.ID), list, wire.Tail)
}

// listen serves subscriptions/listen of 2026-07-28 until the client ends it.
func (p *Proxy) listen(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream) {
	if !meta.Modern() {
		s.reply(wire.AppendError(nil, m.ID, codeNoMethod, "subscriptions/listen is of revision 2026-07-28", nil))
		return
	}
	filter, _ := rawjson.Member(m.Params, "notifications")
	wanted, _ := rawjson.Member(filter, "toolsListChanged")
	agreed := `,"notifications":{}`
	if string(wanted) == "true" {
		agreed = `,"notifications":{"toolsListChanged":true}`
	}
	id := string(m.ID)
	before := p.catalogue.load()
	s.send(wire.AppendNotification(nil, "notifications/subscriptions/acknowledged", subscriptionParams(id, agreed)))
	if string(wanted) == "true" {
		c.mu.Lock()
		c.subscriptions[id] = s
		c.mu.Unlock()
		if p.catalogue.load() != before { // it may have changed before anybody could tell
			s.send(wire.AppendNotification(nil, listChanged, subscriptionParams(id, "")))
		}
		select {
		case <-ctx.Done():
		case <-p.streaming.Done():
		}
		c.mu.Lock()
		delete(c.subscriptions, id)
		c.mu.Unlock()
	}
	if ctx.Err() == nil {
		s.reply(wire.AppendResult(nil, m.ID, subscriptionParams(id, `,"resultType":"complete"`)))
	}
}

// newHandshake is the part of the protocol that mcp-go speaks for us:
// initialize, server/discover, version negotiation, ping, and the refusal of
// every method that is not known.
func newHandshake(version string) *server.MCPServer {
	return server.NewMCPServer("petrigate", version, server.WithToolCapabilities(true), server.WithLogging(), server.WithRecovery())
}

// shakeHands lets mcp-go answer. Its answer goes out under the id that the
// client sent, byte for byte.
func (p *Proxy) shakeHands(ctx context.Context, c *client, m wire.Message, s stream) {
	ctx = p.server.WithContext(ctx, &greeter{id: c.id})
	reply, err := json.Marshal(p.server.HandleMessage(ctx, m.Raw))
	if err != nil {
		s.reply(wire.AppendError(nil, m.ID, codeInternal, "no answer could be made", nil))
		return
	}
	if e, failed := rawjson.Member(reply, "error"); failed {
		s.reply(wire.ErrorHead(m.ID), e, wire.Tail)
		return
	}
	result, _ := rawjson.Member(reply, "result")
	if m.Method == "initialize" {
		c.handshake(m.Params, member(result, "protocolVersion"))
	}
	s.reply(wire.ResultHead(m.ID), result, wire.Tail)
}

// greeter is the session that mcp-go sees. It holds nothing: a client's state
// is ours.
type greeter struct{ id string }

func (g *greeter) Initialize()                                         {}
func (g *greeter) Initialized() bool                                   { return true }
func (g *greeter) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }
func (g *greeter) SessionID() string                                   { return g.id }
