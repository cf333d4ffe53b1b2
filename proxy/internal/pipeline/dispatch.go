package pipeline

import (
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// MaxKeptWhole is the size up to which a message may be kept for the sake of what
// its _meta says: that is needed to the end of the call.
const MaxKeptWhole = 4 << 10

// Prepare reads a call and looks its tool up. Where that fails the call
// is answered, or in the first moments of the proxy the tool is still missing.
func (p *Pipeline) Prepare(c *session.Client, m wire.Message, meta wire.Meta, s spec.Stream) (*Call, bool) {
	params, fault := parseCall(m)
	if fault != nil {
		p.Life.Log.Warn("malformed call refused", "session", c.Session.ID, "reason", fault.Message)
		s.Reply(fault.Append(nil))
		return nil, false
	}
	if len(m.Raw) > MaxKeptWhole {
		meta = meta.Clone()
	}
	t := &Call{proxy: p, Client: c, Stream: s, Agent: c.PeerOf(meta), Method: m.Method, ID: m.ID, params: params, Meta: meta, size: len(m.Raw) + waitingCost}
	t.Meta.ClientInfo = nil // the agent has what is needed of it
	t.found(t.target())
	return t, true
}

// found sets the tool, and with it what the gate decides on.
func (t *Call) found(tool *pool.Tool) {
	if tool == nil {
		return
	}
	t.Tool = tool
	t.gate = tool.Call()
	t.gate.Args, t.gate.Time = t.params.Arguments, t.proxy.Life.Now()
	if t.Method != spec.CallTool {
		t.gate.Tool = tool.Canonical
	}
	if t.Method == spec.GetPrompt {
		t.gate.Foreign = t.proxy.Pool.Catalogue.Owners().Canonical(strings.TrimPrefix(tool.Canonical, "prompt:")) != tool.Upstream.Config.Name
	}
	if t.Client.Session.By == "connection" {
		t.gate.ID = wire.IDKey(t.ID)
	}
}

// Accept serves a call that is prepared and noted. It waits only aside.
func (p *Pipeline) Accept(t *Call) {
	if t.Tool == nil {
		t.waitAside(func() { p.acceptLate(t) })
		return
	}
	if err := t.mirrors(); err != nil {
		t.refuseAs(spec.CodeHeaderMismatch, err.Error())
		return
	}
	if !t.place() {
		return
	}
	if !t.Agent.Rev.PerRequest || t.Tool.Upstream.Dedicated() || t.Tool.Upstream.Declares(t.Agent.Capabilities) { // a handshake has declared them
		p.serve(t)
		return
	}
	t.waitAside(func() {
		p.Pool.Declare(t.ctx, t.Agent)
		p.serve(t)
	})
}

// mirrors says where the headers do not repeat the arguments that the tool
// wants repeated.
func (t *Call) mirrors() error {
	if t.Headers == nil || t.Tool.Mirrored == nil {
		return nil
	}
	lookup := func(name string) (string, bool) {
		values := t.Headers.Values(name)
		return t.Headers.Get(name), len(values) > 0
	}
	return mcp.ValidateParamHeadersLookup(lookup, t.Tool.Mirrored, t.params.Source())
}

// acceptLate waits for upstreams that are still starting.
func (p *Pipeline) acceptLate(t *Call) {
	if t.isBuiltin() {
		t.answerBuiltin()
		return
	}
	p.Pool.EnsureDeclared(t.ctx, t.Agent)
	if t.found(t.awaitTarget(t.ctx)); t.Tool != nil {
		p.Accept(t)
		return
	}
	t.unknown()
}

// refuseAs answers with a JSON-RPC error.
func (t *Call) refuseAs(code int, text string) {
	t.end(func() { t.Stream.Reply(wire.AppendError(nil, t.ID, code, text, nil)) })
}
