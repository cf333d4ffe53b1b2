package daemon

import (
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// ListedTools converts a running proxy's tools to the type that package check uses.
func ListedTools(tools []operator.ToolInfo) []check.ListedTool {
	list := []check.ListedTool{}
	for _, t := range tools {
		list = append(list, check.ListedTool{Exposed: t.Exposed, Bare: t.Bare, Canonical: t.Canonical, InputSchema: t.InputSchema, Annotations: t.Annotations})
	}
	return list
}
