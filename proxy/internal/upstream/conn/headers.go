package conn

import (
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
)

// paramHeaders is the tools whose arguments go into headers as well, as
// modern HTTP wants for those that a tool marks with x-mcp-header.
type paramHeaders struct {
	Tools atomic.Pointer[map[string]*mcp.Tool]
}

// Of is the headers that a call of a tool needs.
func (p *paramHeaders) Of(r *Request) map[string]string {
	tools := p.Tools.Load()
	if tools == nil || r.Method != string(mcp.MethodToolsCall) {
		return nil
	}
	if tool := (*tools)[r.Name]; tool != nil {
		return mcp.GenerateParamHeaders(tool, r.Params)
	}
	return nil
}
