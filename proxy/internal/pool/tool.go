package pool

import (
	"fmt"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/toolpin"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/listing"
)

// A Tool is a tool of a server, or a prompt or resource that is treated as a tool.
type Tool struct {
	listing.Tool
	Upstream  *Server
	Canonical string // name in rules, of the form upstream.tool
	also      []gate.Name
	others    map[string]bool // names of all tools that may be meant by an action in a rule
	foreign   bool            // whether the exposed name may belong to another server
	Why       string          // why the configuration filters out the tool; empty if it does not

	Unaccepted string // why the definition is not accepted; empty if it is accepted
}

// Withheld returns why clients cannot use the tool: as a refusal kind, and as a sentence for the
// model.
func (t *Tool) Withheld() (kind, why string) {
	if t.Unaccepted != "" {
		return "quarantined", fmt.Sprintf("%s cannot be called: %s. A person must review that first; until then, calling it again will not help.", t.Exposed, t.Unaccepted)
	}
	return "withheld", fmt.Sprintf("%s cannot be called: the configuration does not offer this tool of the upstream %s (%s). Calling it again will not help.",
		t.Exposed, t.Upstream.Config.Name, t.Why)
}

// DefinitionSent returns the tool's definition as the server has sent it.
func (t *Tool) DefinitionSent() toolpin.Definition {
	return toolpin.Read(t.Upstream.Config.Name, t.Name, t.Object)
}

// addNames sets the additional names of each tool, and the names of all tools that may be meant by
// an action in a rule.
func addNames(tools []*Tool, owners toolname.Owners) {
	all := make([]toolname.Names, 0, len(tools))
	others := map[string]bool{}
	for _, t := range tools {
		all = append(all, toolname.Names{Upstream: t.Upstream.Config.Name, Exposed: t.Exposed, Bare: t.Name, Canonical: t.Canonical})
		others[t.Canonical] = true
		if strings.Contains(t.Name, ".") {
			others[t.Name] = true
		}
	}
	for i, names := range toolname.AdditionalNames(all, owners) {
		tools[i].also, tools[i].others, tools[i].foreign = names, others, owners.Foreign(all[i])
	}
}

// markAgentNames marks the names of the tool that also belong to an agent's own tools, so that they
// do not count as evidence for this tool. It reports whether there are any such names.
func (t *Tool) markAgentNames(belongs func(name string) bool) (some bool) {
	if belongs(t.Exposed) {
		t.foreign, some = true, true
	}
	for i, name := range t.also {
		if belongs(name.Text) {
			t.also[i].Certain, t.also[i].Weak, some = false, true, true
		}
	}
	return some
}

// Call returns a call of the tool, without arguments, as the gate represents it.
func (t *Tool) Call() gate.Call {
	return gate.Call{Tool: t.Exposed, Foreign: t.foreign, Also: t.also, Others: t.others, Upstream: t.Upstream.Config.Name, Annotations: t.Annotations}
}

// PromptTool returns a prompt as a tool for the gate. The name of this tool in rules is
// prompt:upstream.name.
func PromptTool(i Item) *Tool {
	read := listing.Tool{Name: i.Key, Exposed: "prompt " + text.Escape(i.Exposed)}
	return &Tool{Tool: read, Upstream: i.Upstream, Canonical: "prompt:" + i.Upstream.Config.Name + "." + i.Key}
}

// ResourceTool returns a resource as a tool for the gate. All resources of a server have the same
// name in rules: resource:upstream.
func ResourceTool(u *Server, uri string) *Tool {
	read := listing.Tool{Name: uri, Exposed: "resource " + text.Escape(uri)}
	return &Tool{Tool: read, Upstream: u, Canonical: "resource:" + u.Config.Name}
}

// An Item is a prompt, resource or resource template of a server.
type Item struct {
	Upstream *Server
	Key      string // the server's name or URI for this item
	Exposed  string // the name or URI that clients use for this item
	Object   []byte // JSON object as clients receive it
}
