package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// dispatch serves one request of a client that is not a call, and returns when
// it is answered. Both transports and both families of revisions come through here. What is not
// named is refused, never relayed.
func (p *Proxy) dispatch(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream) {
	switch m.Method {
	case "tools/list":
		p.toolsList(ctx, c, m, meta, s)
	case "subscriptions/listen":
		p.listen(ctx, c, m, meta, s)
	case "logging/setLevel":
		if rev.Of(meta).Lacks(m.Method) { // each request says its level instead
			s.Reply(wire.AppendError(nil, m.ID, codeNoMethod, "logging/setLevel is not of this revision", nil))
			return
		}
		p.setLevel(ctx, c, m, s)
	case "prompts/list":
		p.list(ctx, c, m, meta, s, promptList)
	case "resources/list":
		p.list(ctx, c, m, meta, s, resourceList)
	case "resources/templates/list":
		p.list(ctx, c, m, meta, s, templateList)
	case "completion/complete":
		p.complete(ctx, c, m, meta, s)
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		p.awaitUpstreams(ctx)
		p.tasks.serve(ctx, c, m, meta, s)
	case "tasks/list":
		p.awaitUpstreams(ctx)
		p.tasks.list(c, m, meta, s)
	case "resources/subscribe", "resources/unsubscribe":
		if rev.Of(meta).Lacks(m.Method) { // subscriptions/listen says what is watched
			s.Reply(wire.AppendError(nil, m.ID, codeNoMethod, m.Method+" is not of this revision", nil))
			return
		}
		p.watch(ctx, c, m, s)
	default:
		p.shakeHands(ctx, c, m, s)
	}
}

// notified takes a notification of a client.
func (p *Proxy) notified(c *client, m wire.Message) {
	switch m.Method {
	case "notifications/initialized":
		c.initialize()
		if p.sessions.leveled.Load() {
			p.background(func() { p.relevel(p.ctx) })
		}
		p.rootsChanged(c, nil) // some servers ask for them once they may have changed
	case "notifications/cancelled":
		c.requests.cancelled(m.Params)
	case "notifications/progress":
		c.progressed(m.Params)
	case "notifications/roots/list_changed":
		p.rootsChanged(c, m.Params)
	case callTool, getPrompt, readResource:
		p.log.Warn("a call without an id is never made", "session", c.session.id)
	}
}

// rootsChanged tells the upstreams of 2025-11-25 that the roots of a client
// are others.
func (p *Proxy) rootsChanged(c *client, params []byte) {
	if !c.speaker(wire.Meta{}).answers("roots/list", nil) {
		return
	}
	for _, u := range p.connectionsOf(c) {
		if u.State().Phase == upstream.Up && !u.rev().Lacks("notifications/roots/list_changed") {
			u.Notify("notifications/roots/list_changed", bytes.Clone(params))
		}
	}
}

// maxKeptWhole is the size up to which a message may be kept for the sake of what
// its _meta says: that is needed to the end of the call.
const maxKeptWhole = 4 << 10

// prepare reads a call and looks its tool up. Where that fails the call
// is answered, or in the first moments of the proxy the tool is still missing.
func (p *Proxy) prepare(c *client, m wire.Message, meta wire.Meta, s stream) (*toolCall, bool) {
	params, fault := parseCall(m)
	if fault != nil {
		p.log.Warn("malformed call refused", "session", c.session.id, "reason", fault.Message)
		s.Reply(fault.Append(nil))
		return nil, false
	}
	if len(m.Raw) > maxKeptWhole {
		meta = meta.Clone()
	}
	t := &toolCall{proxy: p, client: c, stream: s, agent: c.speaker(meta), method: m.Method, id: m.ID, params: params, meta: meta, size: len(m.Raw) + waitingCost}
	t.meta.ClientInfo = nil // the agent has what is needed of it
	t.found(t.target())
	return t, true
}

// found sets the tool, and with it what the gate decides on.
func (t *toolCall) found(tool *tool) {
	if tool == nil {
		return
	}
	t.tool = tool
	t.gate = tool.call()
	t.gate.Args, t.gate.Time = t.params.Arguments, t.proxy.now()
	if t.method != callTool {
		t.gate.Tool = tool.canonical
	}
	if t.method == getPrompt {
		t.gate.Foreign = t.proxy.catalogue.owners().Canonical(strings.TrimPrefix(tool.canonical, "prompt:")) != tool.upstream.config.Name
	}
	if t.client.session.by == "connection" {
		t.gate.ID = wire.IDKey(t.id)
	}
}

// accept serves a call that is prepared and noted. It waits only aside.
func (p *Proxy) accept(t *toolCall) {
	if t.tool == nil {
		t.waitAside(func() { p.acceptLate(t) })
		return
	}
	if err := t.mirrors(); err != nil {
		t.refuseAs(codeHeaderMismatch, err.Error())
		return
	}
	if !t.place() {
		return
	}
	if !t.agent.rev.PerRequest || t.tool.upstream.trunk != nil || t.tool.upstream.Declares(t.agent.capabilities) { // a handshake has declared them
		p.serve(t)
		return
	}
	t.waitAside(func() {
		p.declare(t.ctx, t.agent)
		p.serve(t)
	})
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
	if t.isBuiltin() {
		t.answerBuiltin()
		return
	}
	p.ensureDeclared(t.ctx, t.agent)
	if t.found(t.awaitTarget(t.ctx)); t.tool != nil {
		p.accept(t)
		return
	}
	t.unknown()
}

// refuseAs answers with a JSON-RPC error.
func (t *toolCall) refuseAs(code int, text string) {
	t.end(func() { t.stream.Reply(wire.AppendError(nil, t.id, code, text, nil)) })
}

// toolsList answers with the list as it is kept. There is one page.
func (p *Proxy) toolsList(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream) {
	if _, paged := rawjson.Member(m.Params, "cursor"); paged {
		s.Reply(wire.AppendError(nil, m.ID, codeInvalidParams, "Unknown cursor: the list has one page.", nil))
		return
	}
	p.ensureDeclared(ctx, c.speaker(meta))
	p.awaitList(ctx)
	of := rev.Of(meta)
	if !of.Subscriptions && p.advisor != nil {
		s.Reply(wire.ResultHead(m.ID), p.advisor.list(c), wire.Tail)
		return
	}
	if !of.Subscriptions {
		c.interests.saw(listChanged)
	}
	view := p.catalogue.load()
	list := view.list
	if of.ResultType {
		list = view.list2026
	}
	s.Reply(wire.ResultHead(m.ID), list, wire.Tail)
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
		s.Reply(wire.AppendError(nil, m.ID, codeInternal, "no answer could be made", nil))
		return
	}
	if e, failed := rawjson.Member(reply, "error"); failed {
		s.Reply(wire.ErrorHead(m.ID), e, wire.Tail)
		return
	}
	result, _ := rawjson.Member(reply, "result")
	if m.Method == "initialize" {
		c.handshake(m.Params, member(result, "protocolVersion"))
		p.declare(ctx, c.speaker(wire.Meta{}))
		result = p.introduced(ctx, c.speaker(wire.Meta{}), result)
	}
	if m.Method == "server/discover" {
		meta, _ := wire.ParseMeta(m.Params)
		p.declare(ctx, c.speaker(meta))
		result = p.introduced(ctx, c.speaker(meta), result)
	}
	s.Reply(wire.ResultHead(m.ID), result, wire.Tail)
}

// ensureDeclared is declare for a client of 2026-07-28, which need not ask
// server/discover: what it can do comes with each of its requests.
func (p *Proxy) ensureDeclared(ctx context.Context, a agent) {
	if !a.rev.PerRequest {
		return // its handshake has declared it
	}
	capabilities := a.relayed()
	for _, u := range p.upstreams {
		if !u.Declares(capabilities) {
			p.declare(ctx, a)
			return
		}
	}
}

// declare lets the upstreams of 2025-11-25 know what a client can do.
func (p *Proxy) declare(ctx context.Context, a agent) {
	for _, u := range p.upstreams {
		u.Prefer(a.rev)
		u.Intend(a.relayed())
	}
	p.awaitList(ctx) // to disturb no upstream that has just begun
	ctx, cancel := context.WithTimeout(ctx, p.startupLimit)
	defer cancel()
	var all sync.WaitGroup
	for _, u := range p.upstreams {
		all.Go(func() {
			u.Declare(ctx, a.relayed())
			u.listing.await(ctx) // so that its client finds the tools that it has for it
		})
	}
	all.Wait()
}

// introduced is the answer to a handshake with what the upstreams offer.
func (p *Proxy) introduced(ctx context.Context, a agent, result []byte) []byte {
	p.awaitUpstreams(ctx)
	result = wire.ReplaceMember(nil, result, "capabilities", p.capabilities(a))
	if len(p.upstreams) == 1 {
		result = as(p.upstreams[0].State(), result)
	}
	if text := p.instructions(); text != "" {
		result = wire.AppendStamped(nil, result, rawjson.AppendString([]byte(`"instructions":`), text))
	}
	return result
}

// greeter is the session that mcp-go sees. It holds nothing: a client's state
// is ours.
type greeter struct{ id string }

func (g *greeter) Initialize()                                         {}
func (g *greeter) Initialized() bool                                   { return true }
func (g *greeter) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }
func (g *greeter) SessionID() string                                   { return g.id }
