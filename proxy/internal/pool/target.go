package pool

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
)

// Call is a call of the tool without arguments, as the gate knows it.
func (t *Tool) Call() gate.Call {
	return gate.Call{Tool: t.Exposed, Foreign: t.foreign, Also: t.also, Others: t.others, Upstream: t.Upstream.Config.Name, Annotations: t.annotates}
}

// PromptTool is a prompt as the gate knows it: a rule may name
// prompt:upstream.name.
func PromptTool(i Item) *Tool {
	return &Tool{
		Upstream: i.Upstream, Name: i.Key, Exposed: "prompt " + text.Escape(i.Exposed),
		Canonical: "prompt:" + i.Upstream.Config.Name + "." + i.Key,
	}
}

// ResourceTool is the resources of an upstream as the gate knows them: a rule
// may name resource:upstream.
func ResourceTool(u *Server, uri string) *Tool {
	return &Tool{Upstream: u, Name: uri, Exposed: "resource " + text.Escape(uri), Canonical: "resource:" + u.Config.Name}
}
