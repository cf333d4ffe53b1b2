package proxy

import (
	"encoding/json"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
)

// Offered is an immutable snapshot of the tools that clients can call.
type Offered struct{ view *pool.ToolView }

// Offered returns the tools that clients can call now.
func (p *Proxy) Offered() Offered { return Offered{p.pool.Catalogue.Load()} }

// Names returns the tools in the order of the list. Each element is a call without arguments that
// contains all names of its tool.
func (o Offered) Names() []gate.Call { return slices.Clone(o.view.Calls) }

// Definition returns a hash of the server's definition of a tool, given its exposed name. It
// returns "" if the tool is unknown.
func (o Offered) Definition(tool string) string {
	if t := o.view.Tool(tool); t != nil {
		return t.Definition
	}
	return ""
}

// Schema returns the inputSchema of a tool, or nil if its server provides none.
func (o Offered) Schema(tool string) json.RawMessage {
	t := o.view.Tool(tool)
	if t == nil {
		return nil
	}
	schema, _ := rawjson.Member(t.Object, "inputSchema")
	return schema
}
