package pipeline

import (
	"bytes"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// isBuiltin reports whether the call is of something that the proxy itself offers.
func (t *Call) isBuiltin() bool {
	switch {
	case !t.proxy.Relay.OffersStatus():
		return false
	case t.Method == spec.GetPrompt:
		return t.params.Name == relay.StatusPrompt
	case t.Method == spec.ReadResource:
		return spec.Member(t.params.Source(), "uri") == relay.StatusURI
	}
	return false
}

// answerBuiltin answers such a call. No gate decides on it: it tells the client
// what the gate would say, and reaches no upstream.
func (t *Call) answerBuiltin() {
	text := t.proxy.Relay.Status(t.Client.Session)
	var b bytes.Buffer
	if t.Method == spec.ReadResource {
		b.WriteString(`{"contents":[{"uri":"` + relay.StatusURI + `","mimeType":"text/markdown","text":`)
		b.Write(rawjson.AppendString(nil, text))
		b.WriteString(`}]}`)
	} else {
		b.WriteString(`{"description":"` + relay.StatusAbout + `","messages":[{"role":"user","content":{"type":"text","text":`)
		b.Write(rawjson.AppendString(nil, text))
		b.WriteString(`}}]}`)
	}
	result := t.Agent.Rev.Result(b.Bytes(), t.Method)
	t.end(func() { t.Stream.Reply(wire.AppendResult(nil, t.ID, result)) })
}
