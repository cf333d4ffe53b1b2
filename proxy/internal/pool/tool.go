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

// A Tool is one tool of a server, or a prompt or resource in the role of one.
type Tool struct {
	listing.Tool
	Upstream  *Server
	Canonical string // upstream.tool, as rules name it
	also      []gate.Name
	others    map[string]bool // names of all tools that an action of a rule could mean
	foreign   bool            // the exposed name could belong to another server
	Why       string          // why the configuration filters the tool out; empty: not filtered

	Unaccepted string // why the definition is not accepted; empty: accepted
}

// Withheld returns why the tool is withheld from clients: a refusal kind, and a sentence for a
// model.
func (t *Tool) Withheld() (kind, why string) {
	if t.Unaccepted != "" {
		return "quarantined", fmt.Sprintf("%s cannot be called: %s. A person has to look at that first; until then, calling it again will not help.", t.Exposed, t.Unaccepted)
	}
	return "withheld", fmt.Sprintf("%s cannot be called: the configuration does not offer this tool of the upstream %s (%s). Calling it again will not help.",
		t.Exposed, t.Upstream.Config.Name, t.Why)
}

// DefinitionSent returns the definition that the server sends for the tool.
func (t *Tool) DefinitionSent() toolpin.Definition {
	return toolpin.Read(t.Upstream.Config.Name, t.Name, t.Object)
}

// addNames gives the tools their further names, and the names of all tools that an action of a rule
// could mean.
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

// markAgentNames marks the names of the tool that belong to another agent's tools as no evidence
// for this one. It reports whether the tool has such names.
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

// Call returns a call of the tool without arguments, in the gate's terms.
func (t *Tool) Call() gate.Call {
	return gate.Call{Tool: t.Exposed, Foreign: t.foreign, Also: t.also, Others: t.others, Upstream: t.Upstream.Config.Name, Annotations: t.Annotations}
}

// PromptTool returns a prompt as a tool for the gate. Rules name it prompt:upstream.name.
func PromptTool(i Item) *Tool {
	read := listing.Tool{Name: i.Key, Exposed: "prompt " + text.Escape(i.Exposed)}
	return &Tool{Tool: read, Upstream: i.Upstream, Canonical: "prompt:" + i.Upstream.Config.Name + "." + i.Key}
}

// ResourceTool returns a resource as a tool for the gate. Rules name all resources of a server
// resource:upstream.
func ResourceTool(u *Server, uri string) *Tool {
	read := listing.Tool{Name: uri, Exposed: "resource " + text.Escape(uri)}
	return &Tool{Tool: read, Upstream: u, Canonical: "resource:" + u.Config.Name}
}

// An Item is one prompt, resource or resource template of a server.
type Item struct {
	Upstream *Server
	Key      string // name or URI that the server uses
	Exposed  string // name or URI that clients use
	Object   []byte // JSON object that clients get
}
