package pipeline

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Serve takes a call through admission, and forwards it if it is admitted. The order is a security
// property: nothing is sent before the decision has been recorded. Serve may run on the goroutine
// that reads the client's messages. In that case, it blocks only while it accesses the store. If a
// step has to wait for a person, a server or a reply, another goroutine continues the call. The
// server's reply is handled by [inflightCall.finish].
func (p *Pipeline) Serve(c *Call) {
	if c.Method == spec.CallTool {
		p.Came(c.params.Name)
	}
	if c.Tool == nil {
		c.continueOff(clientReader, func() { p.resolveLate(c) })
		return
	}
	if c.Headers != nil && c.Tool.Mirrored != nil {
		if err := c.checkMirrored(); err != nil {
			c.answerError(spec.CodeHeaderMismatch, err.Error())
			return
		}
	}
	// Each of the following steps returns false if it has responded to the client, has continued an
	// admitted call, or will call Serve again after a wait.
	if !c.placed && !p.place(c) {
		return
	}
	c.plain = c.params.Task == nil && c.Peer.Rev == rev.Rev2025 && c.Tool.Upstream.Rev() == rev.Rev2025
	if !c.plain && !p.resume(c) { // an admitted call that the client sends again with input continues without a new decision
		return
	}
	if !p.admissible(c) {
		return
	}
	if c.Turn != nil {
		c.Turn.Acquire(nil)
	}
	ctx := p.Life.Ctx
	if c.trace != nil {
		ctx = c.trace.ctx
	}
	d := &decidedCall{call: c, pending: p.Admission.Stage(ctx, c.admission())}
	if c.Turn != nil {
		c.Turn.Release()
	}
	if !c.Burst.Add(d) {
		c.yield()
		p.proceed(c, d.pending.Wait())
	}
}

// resolveLate finds the call's tool, waiting for it if necessary, and then serves the call.
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
	p.answerUnknown(c)
}

// place chooses the connection for the call's session: the server's shared connection or a
// dedicated one. If it cannot choose one, it refuses the call and returns false. The call may have
// to wait until a dedicated connection has started, or until the server knows the client's
// capabilities. In that case, another goroutine continues the call, and place returns false.
func (p *Pipeline) place(c *Call) bool {
	c.placed = true
	u := c.Tool.Upstream
	at, err := p.Pool.Place(c.Client.Session, u, c.Peer)
	switch {
	case err != nil:
		r := PlainRefusal("unavailable", fmt.Sprintf("%s was not called and nothing was spent: %v. End an unused session, or try again later.", c.Tool.Exposed, err))
		p.RecordRefusal(c, r)
		c.answer(r)
		return false
	case at != u:
		return p.dedicate(c, at)
	case !c.Peer.Rev.PerRequest || u.Declares(c.Peer.Capabilities): // the server already knows the client's capabilities
		return true
	}
	c.continueOff(clientReader, func() {
		p.Pool.Declare(c.ctx, c.Peer)
		p.Serve(c)
	})
	return false
}

// dedicate makes the call use the given connection, which serves only the call's session. If the
// connection is not up yet, or its server does not know the client's capabilities yet, dedicate
// lets another goroutine continue the call, and returns false.
func (p *Pipeline) dedicate(c *Call, at *pool.Server) bool {
	own := *c.Tool
	own.Upstream = at
	c.Tool = &own
	if !at.Starting() && at.Declares(c.Peer.Forwarded()) {
		return true
	}
	c.continueOff(clientReader, func() {
		ctx, cancel := context.WithTimeout(c.ctx, p.StartupLimit)
		defer cancel()
		at.AwaitReady(ctx, c.Peer)
		p.Serve(c)
	})
	return false
}

// admissible reports whether the gate should decide on the call. It refuses a call that could not
// be run or recorded now. Otherwise, the gate could admit such a call and change the markings of
// the nets.
func (p *Pipeline) admissible(c *Call) bool {
	if !c.plain && p.refuseTaskMode(c) {
		return false
	}
	var a answer
	u := c.Tool.Upstream
	if state := u.State(); state.Phase != upstream.Up {
		a = p.downRefusal(c, state.Err)
	} else {
		if a = p.checkRecordable(c); a != nil { // the store is unavailable, so it is unknown whether another process has ended the session
			c.answer(a)
			return false
		}
		if !c.plain || u.Config.Limits.InFlight != 0 {
			a = p.reserve(c)
		}
	}
	if a != nil && (!c.isOver(false) || !c.refuseSession()) {
		c.answer(a)
	}
	return a == nil
}

// downRefusal records and returns the refusal for a call to a server that is down. err is the
// reason, or nil if the reason is unknown.
func (p *Pipeline) downRefusal(c *Call, err error) refusal {
	name := c.Tool.Upstream.Config.Name
	if r, ok := c.unauthorizedAnswer(err).(refusal); ok {
		p.RecordRefusal(c, r)
		return r
	}
	r := PlainRefusal("unavailable", fmt.Sprintf("The upstream %s is not running, so %s was not called and nothing was spent. %s",
		name, c.Tool.Exposed, "Other tools may work; try again later."))
	p.RecordRefusal(c, r)
	return r
}

// checkRecordable returns a refusal if the decision on the call cannot be recorded now, and nil
// otherwise.
func (p *Pipeline) checkRecordable(c *Call) answer {
	if r := p.Admission.Ready(c.Tool.Canonical); r != nil {
		return refusal{r}
	}
	if c.Peer.Rev.InputRequired { // the client may need a sealed requestState to send the call again
		if err := p.Sealer.Ready(p.Life.Ctx); err != nil {
			return refusal{p.Admission.RefuseError(p.Life.Ctx, c.admission(), err)}
		}
	}
	return nil
}

// yield lets other goroutines run before the caller waits for its decision or outcome to be
// recorded. Their decisions and outcomes can then be recorded in the same step. yield does this
// only if the server uses streamable HTTP and at least [burst.MinInFlight] calls to it are in
// flight.
func (c *Call) yield() {
	if u := c.Tool.Upstream; !u.OneReader() && u.InFlight.Len() >= burst.MinInFlight {
		runtime.Gosched()
	}
}

// A decidedCall is a call that waits until the gate's decision on it has been recorded. It
// implements [burst.Step], so that the decisions on calls that were read together can be recorded
// together.
type decidedCall struct {
	call    *Call
	pending *admission.Pending
}

// Continue waits until the decision has been recorded, and then continues the call.
func (d *decidedCall) Continue() {
	c := d.call
	defer c.pipeline.Life.Recover(c.Method, c.ID, c.Stream)
	c.pipeline.proceed(c, d.pending.Wait())
}

// MaxKeptWhole is the maximum size, in bytes, of a message that stays in memory until its call
// ends. A larger message can be freed once its call has been sent, because its _meta, usually the
// only part needed later, has been copied.
const MaxKeptWhole = 4 << 10

// Prepare parses a call and looks up its tool, which may be missing while servers are starting. If
// the call is invalid, Prepare responds with an error and returns false.
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
		s.Reply(wire.AppendError(nil, m.ID, wire.CodeInvalidParams, "Invalid params: "+err.Error()+".", nil))
		return nil, false
	}
	c := &Call{pipeline: p, Client: client, State: state, Stream: s, Peer: client.PeerOf(meta), Method: m.Method, ID: m.ID, IDKey: wire.IDKey(m.ID), params: params, Meta: meta, size: len(m.Raw) + waitingCost}
	c.Meta.ClientInfo = nil // allows the memory to be freed; Peer still holds the client's name and version
	c.setTool(c.target())
	if p.Admission.Watch.Observed() {
		p.observe(c, params.Meta)
	}
	return c, true
}

// parseRead parses the params of a resources/read request. It makes the URI an argument of the
// call, so that the gate and the people asked for approval see it.
func parseRead(m wire.Message) (wire.Call, *wire.Fault) {
	call, fault := wire.ParseRequest(m)
	if fault != nil {
		return call, fault
	}
	uri, _ := rawjson.Member(m.Params, "uri")
	if s, ok := rawjson.String(uri); !ok || s == "" {
		return call, &wire.Fault{Code: wire.CodeInvalidParams, Message: `invalid params: "uri" is missing or empty`, ID: m.ID}
	}
	call.Arguments = append(append([]byte(`{"uri":`), uri...), '}')
	return call, nil
}

// setTool sets the call's tool and the description of the call for the gate. If tool is nil,
// setTool does nothing.
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
		call.ID = c.IDKey
	}
}

// target returns the call's tool, prompt or resource, or nil if it is not known yet. It returns nil
// for the proxy's own status, too.
func (c *Call) target() *pool.Tool {
	p := c.pipeline
	switch {
	case c.Method == spec.CallTool:
		return p.Pool.KnownTool(c.params.Name)
	case c.isBuiltin():
	case c.Method == spec.GetPrompt:
		if i, ok := p.Relay.KnownPrompt(c.params.Name); ok {
			return pool.PromptTool(i)
		}
	case c.Method == spec.ReadResource:
		uri := rawjson.StringAt(c.params.Source(), "uri")
		if u := p.Relay.Resources.Owner(p.Pool.Servers, uri); u != nil && u.State().Phase == upstream.Up && u.Has("resources") {
			return pool.ResourceTool(u, uri)
		}
	}
	return nil
}

// awaitTarget is like target, but waits for servers to start and requests their lists if necessary.
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
		uri := rawjson.StringAt(c.params.Source(), "uri")
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
