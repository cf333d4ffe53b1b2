package pipeline

import (
	"bytes"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// isBuiltin reports whether the call is for the proxy's own prompt or its own resource.
func (c *Call) isBuiltin() bool {
	switch {
	case !c.pipeline.Relay.OffersStatus():
		return false
	case c.Method == spec.GetPrompt:
		return c.params.Name == relay.StatusPrompt
	case c.Method == spec.ReadResource:
		return spec.Member(c.params.Source(), "uri") == relay.StatusURI
	}
	return false
}

// answerBuiltin answers a prompts/get or resources/read request for the proxy's own status. The
// gate does not decide this request, because the status only describes the gate's decisions and the
// call reaches no server.
func (c *Call) answerBuiltin() {
	text := c.pipeline.Relay.Status(c.State)
	var b bytes.Buffer
	if c.Method == spec.ReadResource {
		b.WriteString(`{"contents":[{"uri":"` + relay.StatusURI + `","mimeType":"text/markdown","text":`)
		b.Write(rawjson.AppendString(nil, text))
		b.WriteString(`}]}`)
	} else {
		b.WriteString(`{"description":"` + relay.StatusAbout + `","messages":[{"role":"user","content":{"type":"text","text":`)
		b.Write(rawjson.AppendString(nil, text))
		b.WriteString(`}}]}`)
	}
	result := c.Peer.Rev.Result(b.Bytes(), c.Method)
	c.end(func() { c.Stream.Reply(wire.AppendResult(nil, c.ID, result)) })
}
