package pipeline

import (
	"context"
	"fmt"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// parseCall reads the params of a call.
func parseCall(m wire.Message) (wire.Call, *wire.Fault) {
	if m.Method != spec.ReadResource {
		return wire.ParseCall(m)
	}
	c, fault := wire.ParseRequest(m)
	if fault != nil {
		return c, fault
	}
	uri, _ := rawjson.Member(m.Params, "uri")
	if s, ok := rawjson.String(uri); !ok || s == "" {
		return c, &wire.Fault{Code: spec.CodeInvalidParams, Message: `invalid params: "uri" is missing or empty`, ID: m.ID}
	}
	c.Arguments = append(append([]byte(`{"uri":`), uri...), '}') // what the gate and people see
	return c, nil
}

// target is what the call is of, as far as that is known without waiting.
func (t *Call) target() *pool.Tool {
	p := t.proxy
	if t.isBuiltin() {
		return nil
	}
	switch t.Method {
	case spec.CallTool:
		return p.Pool.Known(t.params.Name)
	case spec.GetPrompt:
		if i, ok := p.Relay.KnownPrompt(t.params.Name); ok {
			return pool.PromptTool(i)
		}
	case spec.ReadResource:
		uri := spec.Member(t.params.Source(), "uri")
		if u := p.Relay.Resources.Owner(p.Pool.Servers, uri); u != nil && u.State().Phase == upstream.Up && u.Has("resources") {
			return pool.ResourceTool(u, uri)
		}
	}
	return nil
}

// awaitTarget is target with all the waiting that it may take.
func (t *Call) awaitTarget(ctx context.Context) *pool.Tool {
	p := t.proxy
	switch t.Method {
	case spec.CallTool:
		return p.Pool.AwaitTool(ctx, t.params.Name)
	case spec.GetPrompt:
		if i, ok := p.Relay.Prompt(ctx, t.params.Name); ok {
			return pool.PromptTool(i)
		}
	case spec.ReadResource:
		uri := spec.Member(t.params.Source(), "uri")
		if u := p.Relay.ResourceOwner(ctx, uri); u != nil && u.Has("resources") {
			return pool.ResourceTool(u, uri)
		}
	}
	return nil
}

// unknown answers a call of something that there is not.
func (t *Call) unknown() {
	p := t.proxy
	if w := p.Pool.Catalogue.Load().Filtered[t.params.Name]; w != nil && t.Method == spec.CallTool {
		t.refuseFiltered(w)
		return
	}
	t.proxy.Life.Log.Warn("call of something unknown refused", "method", t.Method, "name", text.Escape(t.params.Name), "session", t.Client.Session.ID)
	down := p.Pool.Down()
	switch {
	case t.Method == spec.ReadResource && (p.Relay.OffersStatus() || len(p.Pool.Offering("resources")) > 0):
		uri := spec.Member(t.params.Source(), "uri")
		t.end(func() { t.Stream.Reply(relay.UnknownResource(t.ID, uri, t.Agent.Rev)) })
		return
	case t.Method == spec.ReadResource:
		t.refuseAs(spec.CodeNoMethod, "Method not found: no upstream has resources")
		return
	case t.Method == spec.GetPrompt && !p.Relay.OffersStatus() && len(p.Pool.Offering("prompts")) == 0:
		t.refuseAs(spec.CodeNoMethod, "Method not found: no upstream has prompts")
		return
	}
	unknown := "Unknown tool: " + text.Escape(t.params.Name)
	if t.Method == spec.GetPrompt {
		unknown = "Unknown prompt: " + text.Escape(t.params.Name)
	}
	if down != "" {
		unknown += ". It may be one of an upstream that is not running, or not listed yet: " + down
	}
	t.refuseAs(spec.CodeInvalidParams, unknown)
}

// recorded is how the audit names what the call is of.
func (t *Call) recorded() string {
	if t.Method == spec.CallTool {
		return t.Tool.Name
	}
	return t.Tool.Canonical
}

// refuseFiltered refuses a call of a tool that the configuration does not offer.
func (t *Call) refuseFiltered(w *pool.Tool) {
	t.Tool = w
	r := PlainRefusal("withheld", fmt.Sprintf("%s cannot be called: the configuration does not offer this tool of the upstream %s (%s). Calling it again will not help.",
		w.Exposed, w.Upstream.Config.Name, w.Why))
	t.proxy.RecordRefusal(t, r)
	t.answer(r)
}
