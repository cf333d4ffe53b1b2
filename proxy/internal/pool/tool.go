package pool

import (
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/listing"
)

// A Tool is one tool of an upstream.
type Tool struct {
	Upstream   *Server
	Name       string // the upstream's
	Exposed    string // the client's
	Canonical  string // upstream.tool
	also       []gate.Name
	others     map[string]bool // names of all tools that an action could read like
	foreign    bool            // the exposed name could be one of another upstream
	Object     []byte          // as the client sees it
	Definition string          // hash of the upstream's object
	annotates  []byte          // its annotations, as the upstream wrote them; nil: none
	Why        string          // it is filtered out; empty: it is not

	OnlyTask bool // it can be called as a task only

	Mirrored *mcp.Tool // where arguments are to stand in headers too; nil: nowhere
}

func newTool(u *Server, object []byte, alone bool) (t *Tool, problem string) {
	read, problem := listing.Read(object, u.Config.ExposedPrefix(alone))
	if problem != "" {
		return nil, problem
	}
	return &Tool{
		Upstream: u, Name: read.Name, Exposed: read.Exposed, Canonical: u.Config.Name + "." + read.Name,
		Object: read.Object, Definition: read.Definition, annotates: read.Annotations,
		OnlyTask: read.OnlyTask, Mirrored: read.Mirrored,
	}, ""
}

// addNames gives the tools their further names, and those of the others that an
// action could read like.
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
	for i, names := range toolname.Further(all, owners) {
		tools[i].also, tools[i].others, tools[i].foreign = names, others, owners.Foreign(all[i])
	}
}

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

// An Item is one element of a list of an upstream.
type Item struct {
	Upstream *Server
	Key      string // as the upstream calls it
	Exposed  string // as the clients do
	Object   []byte // as the clients see it
}
