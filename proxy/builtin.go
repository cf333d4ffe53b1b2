package proxy

import (
	"bytes"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// What the proxy itself offers beside what upstreams have: its status, to read
// and as a prompt. These names are its own: of an upstream, what is called the
// same is left out, for nobody else may speak of what the gate lets pass.
const (
	statusURI    = "petrigate://status"
	statusPrompt = "petrigate-status"
	statusAbout  = "Which tools the policy lets you call now, and what the others wait for."
)

// offersStatus reports whether there is anything to say: some net decides.
// Where none does, the proxy is as if it were not there.
func (p *Proxy) offersStatus() bool { return p.admission.Generation().Enforces }

// builtin is what the proxy adds to a list; nil: nothing.
func (p *Proxy) builtin(kind listKind) *item {
	switch {
	case !p.offersStatus():
		return nil
	case kind == promptList:
		return &item{exposed: statusPrompt, object: []byte(`{"name":"` + statusPrompt + `","title":"petrigate status","description":"` + statusAbout + `"}`)}
	case kind == resourceList:
		return &item{exposed: statusURI, object: []byte(`{"uri":"` + statusURI + `","name":"petrigate-status","title":"petrigate status","description":"` +
			statusAbout + `","mimeType":"text/markdown"}`)}
	}
	return nil
}

// withBuiltin is a page of a list with what the proxy adds, on the last page, and
// without what an upstream calls the same.
func (p *Proxy) withBuiltin(kind listKind, page []byte) []byte {
	own := p.builtin(kind)
	array, _ := rawjson.Member(page, kind.member)
	if own == nil || rawjson.Kind(array) != '[' {
		return page
	}
	list := []byte{'['}
	add := func(object []byte) {
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, object...)
	}
	rawjson.Elements(array, func(object []byte, _ int) bool {
		if member(object, kind.key) == own.exposed {
			p.log.Warn("left out of a list: petrigate has one of this name", "method", kind.method, kind.key, own.exposed)
		} else {
			add(object)
		}
		return true
	})
	if cursor, more := rawjson.Member(page, "nextCursor"); !more || rawjson.Kind(cursor) != '"' {
		add(own.object)
	}
	return wire.ReplaceMember(nil, page, kind.member, append(list, ']'))
}

// isBuiltin reports whether the call is of something that the proxy itself offers.
func (t *toolCall) isBuiltin() bool {
	switch {
	case !t.proxy.offersStatus():
		return false
	case t.method == getPrompt:
		return t.params.Name == statusPrompt
	case t.method == readResource:
		return member(t.params.Source(), "uri") == statusURI
	}
	return false
}

// answerBuiltin answers such a call. No gate decides on it: it tells the client
// what the gate would say, and reaches no upstream.
func (t *toolCall) answerBuiltin() {
	text := t.proxy.status(t.client.session)
	var b bytes.Buffer
	if t.method == readResource {
		b.WriteString(`{"contents":[{"uri":"` + statusURI + `","mimeType":"text/markdown","text":`)
		b.Write(rawjson.AppendString(nil, text))
		b.WriteString(`}]}`)
	} else {
		b.WriteString(`{"description":"` + statusAbout + `","messages":[{"role":"user","content":{"type":"text","text":`)
		b.Write(rawjson.AppendString(nil, text))
		b.WriteString(`}}]}`)
	}
	result := t.agent.rev.Result(b.Bytes(), t.method)
	t.end(func() { t.stream.Reply(wire.AppendResult(nil, t.id, result)) })
}
