package pipeline

import (
	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// isBuiltin reports whether the call is for the proxy's own status prompt or status resource.
func (c *Call) isBuiltin() bool {
	switch {
	case !c.pipeline.Relay.OffersStatus():
		return false
	case c.Method == spec.GetPrompt:
		return c.params.Name == relay.StatusPrompt
	case c.Method == spec.ReadResource:
		return rawjson.StringAt(c.params.Source(), "uri") == relay.StatusURI
	}
	return false
}

// answerBuiltin responds to a prompts/get or resources/read request for the proxy's own status. It
// does not ask the gate, because the request reaches no server and the status only describes the
// gate's decisions.
func (c *Call) answerBuiltin() {
	text := c.pipeline.Relay.Status(c.State)
	var result rawjson.Object
	if c.Method == spec.ReadResource {
		content := rawjson.Object{}.String("uri", relay.StatusURI).String("mimeType", "text/markdown").String("text", text)
		result = result.Raw("contents", rawjson.Array(content.Bytes()))
	} else {
		message := rawjson.Object{}.String("role", "user").Raw("content", wire.AppendText(nil, text))
		result = result.String("description", relay.StatusAbout).Raw("messages", rawjson.Array(message.Bytes()))
	}
	answer := c.Peer.Rev.Result(result.Bytes(), c.Method)
	c.end(func() { c.Stream.Reply(wire.AppendResult(nil, c.ID, answer)) })
}

// answerUnknown refuses a call to a tool, prompt or resource that no server offers.
func (p *Pipeline) answerUnknown(c *Call) {
	if w := p.Pool.Catalogue.Load().Filtered[c.params.Name]; w != nil && c.Method == spec.CallTool {
		c.Tool, c.recorded = w, w.Name
		r := PlainRefusal(w.WithheldReason())
		p.RecordRefusal(c, r)
		c.answer(r)
		return
	}
	p.Life.Log.Warn("refused a call to an unknown name", logkind.Unresolved, "method", c.Method, "name", text.Escape(c.params.Name), "session", c.State.ID)
	p.recordUnknown(c)
	switch {
	case c.Method == spec.ReadResource && (p.Relay.OffersStatus() || len(p.Pool.ServersWith("resources")) > 0):
		uri := rawjson.StringAt(c.params.Source(), "uri")
		c.end(func() { c.Stream.Reply(relay.UnknownResource(c.ID, uri, c.Peer.Rev).Append(nil)) })
		return
	case c.Method == spec.ReadResource:
		c.answerError(wire.CodeMethodNotFound, "Method not found: no upstream has resources")
		return
	case c.Method == spec.GetPrompt && !p.Relay.OffersStatus() && len(p.Pool.ServersWith("prompts")) == 0:
		c.answerError(wire.CodeMethodNotFound, "Method not found: no upstream has prompts")
		return
	}
	kind := map[bool]string{true: "prompt", false: "tool"}[c.Method == spec.GetPrompt]
	c.answerError(wire.CodeInvalidParams, p.Pool.UnknownMessage(kind, c.params.Name))
}

// recordUnknown records a call to a tool, prompt or resource that no server offers.
func (p *Pipeline) recordUnknown(c *Call) {
	name := c.params.Name
	if c.Method == spec.ReadResource {
		name = rawjson.StringAt(c.params.Source(), "uri")
	}
	p.Admission.Refused(p.Life.Ctx, &admission.Call{
		Key: c.State.Key(), Client: c.Peer.Name, ID: c.ID, Tool: audit.Bounded(name), Canonical: audit.Bounded(name), Digest: c.argumentsDigest(),
	}, admission.Refuse("unknown", c.Method+": no upstream has it"))
}
