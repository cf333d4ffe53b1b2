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

// A Tool is a tool of a server, or a prompt or resource that takes the role of a tool.
type Tool struct {
	listing.Tool
	Upstream  *Server
	Canonical string // name in rules: upstream.tool
	also      []gate.Name
	others    map[string]bool // names of all tools that an action in a rule might refer to
	foreign   bool            // whether the exposed name might belong to another server
	Why       string          // why the configuration filters the tool out; empty if it does not

	Unaccepted string // why the definition is not accepted; empty if it is
}

// Withheld returns why the tool is withheld from clients, both as a refusal kind and as a sentence for the model.
func (t *Tool) Withheld() (kind, why string) {
	if t.Unaccepted != "" {
		return "quarantined", fmt.Sprintf("%s cannot be called: %s. A person must review that first; until then, calling it again will not help.", t.Exposed, t.Unaccepted)
	}
	return "withheld", fmt.Sprintf("%s cannot be called: the configuration does not offer this tool of the upstream %s (%s). Calling it again will not help.",
		t.Exposed, t.Upstream.Config.Name, t.Why)
}

// DefinitionSent returns the tool's definition as the server sends it.
func (t *Tool) DefinitionSent() toolpin.Definition {
	return toolpin.Read(t.Upstream.Config.Name, t.Name, t.Object)
}

// addNames sets each tool's additional names, and the names of all tools that an action in a rule
// might refer to.
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

// markAgentNames marks those names of the tool that also belong to an agent's own tools, so that
// they do not count as evidence for this tool. It reports whether there are any.
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

// PromptTool returns a prompt as a tool for the gate. In rules, its name is prompt:upstream.name.
func PromptTool(i Item) *Tool {
	read := listing.Tool{Name: i.Key, Exposed: "prompt " + text.Escape(i.Exposed)}
	return &Tool{Tool: read, Upstream: i.Upstream, Canonical: "prompt:" + i.Upstream.Config.Name + "." + i.Key}
}

// ResourceTool returns a resource as a tool for the gate. In rules, all resources of a server share
// the name resource:upstream.
func ResourceTool(u *Server, uri string) *Tool {
	read := listing.Tool{Name: uri, Exposed: "resource " + text.Escape(uri)}
	return &Tool{Tool: read, Upstream: u, Canonical: "resource:" + u.Config.Name}
}

// An Item is a prompt, resource or resource template of a server.
type Item struct {
	Upstream *Server
	Key      string // the server's name or URI for the item
	Exposed  string // the clients' name or URI for the item
	Object   []byte // JSON object that clients receive
}
