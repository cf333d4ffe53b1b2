package pipeline

import (
	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// answerUnknown answers a call of a tool, prompt or resource that no server offers.
func (p *Pipeline) answerUnknown(c *Call) {
	if w := p.Pool.Catalogue.Load().Filtered[c.params.Name]; w != nil && c.Method == spec.CallTool {
		p.refuseWithheld(c, w)
		return
	}
	p.Life.Log.Warn("call of an unknown name refused", logkind.Unresolved, "method", c.Method, "name", text.Escape(c.params.Name), "session", c.State.ID)
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
func (p *Pipeline) refuseWithheld(c *Call, tool *pool.Tool) {
	c.Tool, c.recorded = tool, tool.Name
	r := PlainRefusal(tool.Withheld())
	p.RecordRefusal(c, r)
	c.answer(r)
}
