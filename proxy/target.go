package proxy

import (
	"context"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// The methods that are calls: a gate decides on them, and their outcome is
// recorded.
const (
	callTool     = "tools/call"
	getPrompt    = "prompts/get"
	readResource = "resources/read"
)

func isCall(method string) bool {
	return method == callTool || method == getPrompt || method == readResource
}

// parseCall reads the params of a call.
func parseCall(m wire.Message) (wire.Call, *wire.Fault) {
	if m.Method != readResource {
		return wire.ParseCall(m)
	}
	c, fault := wire.ParseRequest(m)
	if fault != nil {
		return c, fault
	}
	uri, _ := rawjson.Member(m.Params, "uri")
	if s, ok := rawjson.String(uri); !ok || s == "" {
		return c, &wire.Fault{Code: codeInvalidParams, Message: `invalid params: "uri" is missing or empty`, ID: m.ID}
	}
	c.Arguments = append(append([]byte(`{"uri":`), uri...), '}') // what the gate and people see
	return c, nil
}

// target is what the call is of, as far as that is known without waiting.
func (t *toolCall) target() *tool {
	p := t.proxy
	if t.isBuiltin() {
		return nil
	}
	switch t.method {
	case callTool:
		return p.known(t.params.Name)
	case getPrompt:
		if i, ok := p.knownPrompt(t.params.Name); ok {
			return promptTool(i)
		}
	case readResource:
		uri := member(t.params.Source(), "uri")
		if u := p.resources.owner(p.upstreams, uri); u != nil && u.State().Phase == upstream.Up && u.has("resources") {
			return resourceTool(u, uri)
		}
	}
	return nil
}

// awaitTarget is target with all the waiting that it may take.
func (t *toolCall) awaitTarget(ctx context.Context) *tool {
	p := t.proxy
	switch t.method {
	case callTool:
		return p.awaitTool(ctx, t.params.Name)
	case getPrompt:
		if i, ok := p.prompt(ctx, t.params.Name); ok {
			return promptTool(i)
		}
	case readResource:
		uri := member(t.params.Source(), "uri")
		if u := p.resourceOwner(ctx, uri); u != nil && u.has("resources") {
			return resourceTool(u, uri)
		}
	}
	return nil
}

// call is a call of the tool without arguments, as the gate knows it.
func (t *tool) call() gate.Call {
	return gate.Call{Tool: t.exposed, Foreign: t.foreign, Also: t.also, Others: t.others, Upstream: t.upstream.config.Name, Annotations: t.annotates}
}

// promptTool is a prompt as the gate knows it: a rule may name
// prompt:upstream.name.
func promptTool(i item) *tool {
	return &tool{
		upstream: i.upstream, name: i.key, exposed: "prompt " + text.Escape(i.exposed),
		canonical: "prompt:" + i.upstream.config.Name + "." + i.key,
	}
}

// resourceTool is the resources of an upstream as the gate knows them: a rule
// may name resource:upstream.
func resourceTool(u *upstreamState, uri string) *tool {
	return &tool{upstream: u, name: uri, exposed: "resource " + text.Escape(uri), canonical: "resource:" + u.config.Name}
}

// unknown answers a call of something that there is not.
func (t *toolCall) unknown() {
	p := t.proxy
	if w := p.catalogue.load().filtered[t.params.Name]; w != nil && t.method == callTool {
		t.refuseFiltered(w)
		return
	}
	t.proxy.log.Warn("call of something unknown refused", "method", t.method, "name", text.Escape(t.params.Name), "session", t.client.session.id)
	down := p.down()
	switch {
	case t.method == readResource && (p.offersStatus() || len(p.offering("resources")) > 0):
		uri := member(t.params.Source(), "uri")
		t.end(func() { t.stream.Reply(unknownResource(t.id, uri, t.agent.rev)) })
		return
	case t.method == readResource:
		t.refuseAs(codeNoMethod, "Method not found: no upstream has resources")
		return
	case t.method == getPrompt && !p.offersStatus() && len(p.offering("prompts")) == 0:
		t.refuseAs(codeNoMethod, "Method not found: no upstream has prompts")
		return
	}
	unknown := "Unknown tool: " + text.Escape(t.params.Name)
	if t.method == getPrompt {
		unknown = "Unknown prompt: " + text.Escape(t.params.Name)
	}
	if down != "" {
		unknown += ". It may be one of an upstream that is not running, or not listed yet: " + down
	}
	t.refuseAs(codeInvalidParams, unknown)
}

// recorded is how the audit names what the call is of.
func (t *toolCall) recorded() string {
	if t.method == callTool {
		return t.tool.name
	}
	return t.tool.canonical
}

// refuseFiltered refuses a call of a tool that the configuration does not offer.
func (t *toolCall) refuseFiltered(w *tool) {
	t.tool = w
	r := plainRefusal("withheld", fmt.Sprintf("%s cannot be called: the configuration does not offer this tool of the upstream %s (%s). Calling it again will not help.",
		w.exposed, w.upstream.config.Name, w.why))
	t.proxy.recordRefusal(t, r)
	t.answer(r)
}
