// Package spec has the words of the MCP specification that several rooms of the proxy
// use: methods, notifications, error codes, and the members of some messages.
package spec

import "time"

// LogLevels are the severities of MCP, which are those of syslog.
var LogLevels = map[string]int{
	"debug": 0, "info": 1, "notice": 2, "warning": 3, "error": 4, "critical": 5, "alert": 6, "emergency": 7,
}

// LevelTimeout bounds the wait for a server that gets logging/setLevel.
const LevelTimeout = 5 * time.Second

// The lists that can change, as their notifications and filters call them.
const (
	ListChanged          = "notifications/tools/list_changed"
	PromptsListChanged   = "notifications/prompts/list_changed"
	ResourcesListChanged = "notifications/resources/list_changed"
)

// ListTimeout bounds one tools/list to a server.
const ListTimeout = 30 * time.Second

// The methods that are calls: a gate decides on them, and their outcome is
// recorded.
const (
	CallTool     = "tools/call"
	GetPrompt    = "prompts/get"
	ReadResource = "resources/read"
)

// IsCall reports whether requests of a method are calls.
func IsCall(method string) bool {
	return method == CallTool || method == GetPrompt || method == ReadResource
}

// ElicitationComplete is the notification of a server of 2025-11-25 that a person has
// finished an elicitation in URL mode.
const ElicitationComplete = "notifications/elicitation/complete"

// ResourceUpdated is the notification that a resource has changed.
const ResourceUpdated = "notifications/resources/updated"

// A Stream carries messages to a client in the order in which they are sent: any number
// of notifications and requests of the proxy, and one reply to the request that it
// belongs to. The parts make up one message; a Stream does not keep them.
type Stream interface {
	Send(parts ...[]byte)
	Reply(parts ...[]byte)
}
