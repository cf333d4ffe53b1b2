package proxy

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// dispatch serves one request of a client and returns when it is answered.
// Both transports and both eras come through here: there is no other way to
// an upstream. What is not named is refused, never relayed.
func (p *Proxy) dispatch(ctx context.Context, c *client, m wire.Message, s stream) {
	meta, fault := wire.ParseMeta(m.Params)
	if fault != nil {
		fault.ID = m.ID
		s.reply(fault.Append(nil))
		return
	}
	switch m.Method {
	case "tools/call":
		p.toolsCall(ctx, c, m, meta, s)
	case "tools/list":
		p.toolsList(ctx, c, m, meta, s)
	case "subscriptions/listen":
		p.listen(ctx, c, m, meta, s)
	case "logging/setLevel":
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

// toolsCall finds the tool and serves the call.
func (p *Proxy) toolsCall(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream) {
	params, fault := wire.ParseCall(m)
	if fault != nil {
		p.log.Warn("malformed call refused", "session", c.session.id, "reason", fault.Message)
		s.reply(fault.Append(nil))
		return
	}
	found := p.find(ctx, params.Name)
	if found == nil {
		p.log.Warn("call of an unknown tool refused", "tool", visible(params.Name), "session", c.session.id)
		s.reply(wire.AppendError(nil, m.ID, codeInvalidParams, "Unknown tool: "+visible(params.Name), nil))
		return
	}
	if params.Task != nil {
		s.reply(wire.AppendError(nil, m.ID, codeInvalidParams, "Calls as tasks are not supported yet; call "+found.exposed+" without a task.", nil))
		return
	}
	t := &toolCall{client: c, stream: s, agent: c.speaker(meta), id: m.ID, params: params, meta: meta, tool: found}
	t.gate = gate.Call{Tool: found.exposed, Also: found.also, Args: params.Arguments, Time: p.options.Now()}
	if c.session.by == "connection" {
		t.gate.ID = wire.IDKey(m.ID)
	}
	p.serve(ctx, t)
}

// find looks a tool up, and waits for upstreams that are still starting.
func (p *Proxy) find(ctx context.Context, exposed string) *tool {
	if t := p.catalogue.load().tools[exposed]; t != nil {
		return t
	}
	p.awaitList(ctx)
	return p.catalogue.load().tools[exposed]
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
	s.send(wire.AppendNotification(nil, "notifications/subscriptions/acknowledged", subscriptionParams(id, agreed)))
	if string(wanted) == "true" {
		c.mu.Lock()
		c.subscriptions[id] = s
		c.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-p.ctx.Done():
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
