package pipeline

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// MaxKeptWhole is the maximum size of a message that is kept whole for the sake of its _meta, which
// is needed until the call ends.
const MaxKeptWhole = 4 << 10

// Prepare parses a call and looks up its tool. It answers a malformed call itself and reports
// false. The tool can be missing while servers are starting.
func (p *Pipeline) Prepare(client *session.Client, m wire.Message, meta wire.Meta, s spec.Stream) (*Call, bool) {
	params, fault := spec.ParseCall(m)
	if fault != nil {
		p.Life.Log.Warn("malformed call refused", "session", client.Session.ID, "reason", fault.Message)
		s.Reply(fault.Append(nil))
		return nil, false
	}
	if len(m.Raw) > MaxKeptWhole {
		meta = meta.Clone()
	}
	state, err := p.Sessions.OfCall(client, m.Params)
	if err != nil {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeInvalidParams, "Invalid params: "+err.Error()+".", nil))
		return nil, false
	}
	c := &Call{pipeline: p, Client: client, State: state, Stream: s, Peer: client.PeerOf(meta), Method: m.Method, ID: m.ID, params: params, Meta: meta, size: len(m.Raw) + waitingCost}
	c.Meta.ClientInfo = nil // Peer contains the needed parts
	c.setTool(c.target())
	p.observe(c, params.Meta)
	return c, true
}

// resolve finds the tool of the call, and checks the headers that mirror its arguments. If servers
// are still starting, it spawns the wait for them and the rest of the call, and reports false.
func (p *Pipeline) resolve(c *Call) bool {
	if c.Tool == nil {
		c.spawnHeld(func() { p.resolveLate(c) })
		return false
	}
	if err := c.checkMirrored(); err != nil {
		c.answerError(spec.CodeHeaderMismatch, err.Error())
		return false
	}
	return true
}

// resolveLate finds the tool of the call and blocks for as long as that takes.
func (p *Pipeline) resolveLate(c *Call) {
	if c.isBuiltin() {
		c.answerBuiltin()
		return
	}
	p.Pool.EnsureDeclared(c.ctx, c.Peer)
	if c.setTool(c.awaitTarget(c.ctx)); c.Tool != nil {
		p.Serve(c)
		return
	}
	c.answerUnknown()
}

// setTool sets the tool of the call and the call that the gate decides on. It does nothing if tool
// is nil.
func (c *Call) setTool(tool *pool.Tool) {
	if tool == nil {
		return
	}
	c.Tool = tool
	call := &c.admitting.Gate
	*call = tool.Call()
	call.Args, call.Time = c.params.Arguments, c.pipeline.Life.Now()
	if c.Method != spec.CallTool {
		call.Tool = tool.Canonical
	}
	if c.Method == spec.GetPrompt {
		call.Foreign = c.pipeline.Pool.Catalogue.Owners().Canonical(strings.TrimPrefix(tool.Canonical, "prompt:")) != tool.Upstream.Config.Name
	}
	if c.State.By == "connection" {
		call.ID = wire.IDKey(c.ID)
	}
}

// checkMirrored returns an error if the HTTP headers do not mirror the arguments that the tool's
// inputSchema marks with x-mcp-header (2026-07-28).
func (c *Call) checkMirrored() error {
	if c.Headers == nil || c.Tool.Mirrored == nil {
		return nil
	}
	lookup := func(name string) (string, bool) {
		values := c.Headers.Values(name)
		return c.Headers.Get(name), len(values) > 0
	}
	return mcp.ValidateParamHeadersLookup(lookup, c.Tool.Mirrored, c.params.Source())
}

// target returns the tool, prompt or resource of the call, or nil if it is not known without
// waiting.
func (c *Call) target() *pool.Tool {
	p := c.pipeline
	if c.isBuiltin() {
		return nil
	}
	switch c.Method {
	case spec.CallTool:
		return p.Pool.Known(c.params.Name)
	case spec.GetPrompt:
		if i, ok := p.Relay.KnownPrompt(c.params.Name); ok {
			return pool.PromptTool(i)
		}
	case spec.ReadResource:
		uri := spec.Member(c.params.Source(), "uri")
		if u := p.Relay.Resources.Owner(p.Pool.Servers, uri); u != nil && u.State().Phase == upstream.Up && u.Has("resources") {
			return pool.ResourceTool(u, uri)
		}
	}
	return nil
}

// awaitTarget returns the same as target, but waits for servers to start and asks them for their
// lists if necessary.
func (c *Call) awaitTarget(ctx context.Context) *pool.Tool {
	p := c.pipeline
	switch c.Method {
	case spec.CallTool:
		return p.Pool.AwaitTool(ctx, c.params.Name)
	case spec.GetPrompt:
		if i, ok := p.Relay.Prompt(ctx, c.params.Name); ok {
			return pool.PromptTool(i)
		}
	case spec.ReadResource:
		uri := spec.Member(c.params.Source(), "uri")
		if u := p.Relay.ResourceOwner(ctx, uri); u != nil && u.Has("resources") {
			return pool.ResourceTool(u, uri)
		}
	}
	return nil
}

// answerUnknown answers a call of a tool, prompt or resource that no server offers.
func (c *Call) answerUnknown() {
	p := c.pipeline
	if w := p.Pool.Catalogue.Load().Filtered[c.params.Name]; w != nil && c.Method == spec.CallTool {
		c.refuseWithheld(w)
		return
	}
	p.Life.Log.Warn("call of something unknown refused", logkind.Unresolved, "method", c.Method, "name", text.Escape(c.params.Name), "session", c.State.ID)
	p.recordUnknown(c)
	switch {
	case c.Method == spec.ReadResource && (p.Relay.OffersStatus() || len(p.Pool.Offering("resources")) > 0):
		uri := spec.Member(c.params.Source(), "uri")
		c.end(func() { c.Stream.Reply(relay.UnknownResource(c.ID, uri, c.Peer.Rev).Append(nil)) })
		return
	case c.Method == spec.ReadResource:
		c.answerError(spec.CodeNoMethod, "Method not found: no upstream has resources")
		return
	case c.Method == spec.GetPrompt && !p.Relay.OffersStatus() && len(p.Pool.Offering("prompts")) == 0:
		c.answerError(spec.CodeNoMethod, "Method not found: no upstream has prompts")
		return
	}
	kind := map[bool]string{true: "prompt", false: "tool"}[c.Method == spec.GetPrompt]
	c.answerError(spec.CodeInvalidParams, p.Pool.Unknown(kind, c.params.Name))
}

// recordUnknown records a call of a tool, prompt or resource that no server offers.
func (p *Pipeline) recordUnknown(c *Call) {
	name := c.params.Name
	if c.Method == spec.ReadResource {
		name = spec.Member(c.params.Source(), "uri")
	}
	p.Admission.Refused(p.Life.Ctx, &admission.Call{
		Key: c.State.Key(), Client: c.Peer.Name, ID: c.ID, Tool: audit.Bounded(name), Canonical: audit.Bounded(name), Digest: c.argumentsDigest(),
	}, admission.Refuse("unknown", c.Method+": no upstream has it"))
}

// refuseWithheld refuses a call of a tool that the configuration withholds from clients.
func (c *Call) refuseWithheld(tool *pool.Tool) {
	c.Tool = tool
	r := PlainRefusal(tool.Withheld())
	c.pipeline.RecordRefusal(c, r)
	c.answer(r)
}
