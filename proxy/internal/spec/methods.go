package spec

import "time"

// LogLevels are the severities of MCP, which are those of syslog.
var LogLevels = map[string]int{
	"debug": 0, "info": 1, "notice": 2, "warning": 3, "error": 4, "critical": 5, "alert": 6, "emergency": 7,
}

// LevelTimeout bounds the wait for upstreams that are told a level.
const LevelTimeout = 5 * time.Second

// The lists that can change, as their notifications and filters call them.
const (
	ListChanged          = "notifications/tools/list_changed"
	PromptsListChanged   = "notifications/prompts/list_changed"
	ResourcesListChanged = "notifications/resources/list_changed"
)

// ListTimeout bounds one listing of an upstream's tools.
const ListTimeout = 30 * time.Second

// The methods that are calls: a gate decides on them, and their outcome is
// recorded.
const (
	CallTool     = "tools/call"
	GetPrompt    = "prompts/get"
	ReadResource = "resources/read"
)

func IsCall(method string) bool {
	return method == CallTool || method == GetPrompt || method == ReadResource
}

// ElicitationComplete is what an upstream of 2025-11-25 says once a person
// has done what it sent them to a URL for.
const ElicitationComplete = "notifications/elicitation/complete"

const ResourceUpdated = "notifications/resources/updated"
