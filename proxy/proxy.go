package proxy

import (
	"github.com/petrigate/petrigate/internal/runtime/hook"
)

// A Proxy is an MCP proxy that forwards a call to its server only if the policy allows the call. It
// is safe for concurrent use.
type Proxy struct {
	Hooks *hook.Gate // gate for calls that agents report through their hooks

	*parts
	approvalControl
	sessionView
}
