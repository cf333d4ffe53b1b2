package pipeline

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// MaxKeptWhole is the maximum size of a message that is kept as a whole. A message is kept because
// its _meta is needed until the call ends.
const MaxKeptWhole = 4 << 10

// Prepare parses a call and looks up its tool. If the call is malformed, Prepare answers it and
// returns false. While servers are starting, the tool may still be missing.
func (p *Pipeline) Prepare(client *session.Client, m wire.Message, meta wire.Meta, s spec.Stream) (*Call, bool) {
	parse := wire.ParseCall
	if m.Method == spec.ReadResource {
		parse = parseRead
	}
	params, fault := parse(m)
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
	c.Meta.ClientInfo = nil // Peer already contains the parts of ClientInfo that are needed
	c.setTool(c.target())
	if p.Admission.Watch.Observed() {
		p.observe(c, params.Meta)
	}
	return c, true
}

// parseRead parses the params of a resources/read request. The URI is presented to the gate and to
// people as an argument.
func parseRead(m wire.Message) (wire.Call, *wire.Fault) {
	call, fault := wire.ParseRequest(m)
	if fault != nil {
		return call, fault
	}
	uri, _ := rawjson.Member(m.Params, "uri")
	if s, ok := rawjson.String(uri); !ok || s == "" {
		return call, &wire.Fault{Code: spec.CodeInvalidParams, Message: `invalid params: "uri" is missing or empty`, ID: m.ID}
	}
	call.Arguments = append(append([]byte(`{"uri":`), uri...), '}')
	return call, nil
}

// setTool sets the call's tool, and the call that the gate decides. If tool is nil, setTool does
// nothing.
func (c *Call) setTool(tool *pool.Tool) {
	if tool == nil {
		return
	}
	c.Tool = tool
	call := &c.admitting.Gate
	*call = tool.Call()
	call.Args, call.Time = c.params.Arguments, c.pipeline.Life.Now()
	c.recorded = tool.Name
	if c.Method != spec.CallTool {
		c.recorded, call.Tool = tool.Canonical, tool.Canonical
	}
	if c.Method == spec.GetPrompt {
		call.Foreign = c.pipeline.Pool.Catalogue.Owners().Canonical(strings.TrimPrefix(tool.Canonical, "prompt:")) != tool.Upstream.Config.Name
	}
	if c.State.By == "connection" {
		call.ID = wire.IDKey(c.ID)
	}
}

// target returns the tool, prompt or resource of the call. It returns nil if that is not known
// without waiting.
func (c *Call) target() *pool.Tool {
	p := c.pipeline
	switch {
	case c.Method == spec.CallTool:
		return p.Pool.Known(c.params.Name)
	case c.isBuiltin():
	case c.Method == spec.GetPrompt:
		if i, ok := p.Relay.KnownPrompt(c.params.Name); ok {
			return pool.PromptTool(i)
		}
	case c.Method == spec.ReadResource:
		uri := spec.Member(c.params.Source(), "uri")
		if u := p.Relay.Resources.Owner(p.Pool.Servers, uri); u != nil && u.State().Phase == upstream.Up && u.Has("resources") {
			return pool.ResourceTool(u, uri)
		}
	}
	return nil
}

// awaitTarget is like target, but waits until servers have started, and requests their lists if
// necessary.
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

// checkMirrored returns an error if the HTTP headers do not mirror the arguments marked with
// x-mcp-header in the tool's inputSchema (2026-07-28).
func (c *Call) checkMirrored() error {
	lookup := func(name string) (string, bool) {
		values := c.Headers.Values(name)
		return c.Headers.Get(name), len(values) > 0
	}
	return mcp.ValidateParamHeadersLookup(lookup, c.Tool.Mirrored, c.params.Source())
}
