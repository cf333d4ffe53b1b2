// Package spec contains the terms of the MCP specification that several packages of the proxy use:
// methods, notifications, error codes, and members of some messages.
package spec

import "time"

// LogLevels maps the MCP log levels, which are the severities of syslog, to numbers in ascending
// order.
var LogLevels = map[string]int{
	"debug": 0, "info": 1, "notice": 2, "warning": 3, "error": 4, "critical": 5, "alert": 6, "emergency": 7,
}

// LevelTimeout is the maximum time that the proxy waits for a server's answer to logging/setLevel.
const LevelTimeout = 5 * time.Second

// Notifications that a list has changed.
const (
	ListChanged          = "notifications/tools/list_changed"
	PromptsListChanged   = "notifications/prompts/list_changed"
	ResourcesListChanged = "notifications/resources/list_changed"
)

// ListTimeout is the timeout of a tools/list request to a server.
const ListTimeout = 30 * time.Second

// Methods that are calls. The gate decides these requests, and their outcomes are recorded.
const (
	CallTool     = "tools/call"
	GetPrompt    = "prompts/get"
	ReadResource = "resources/read"
)

// IsCall reports whether requests with this method are calls.
func IsCall(method string) bool {
	return method == CallTool || method == GetPrompt || method == ReadResource
}

// ElicitationComplete is a notification from a server that uses revision 2025-11-25. It reports
// that a person has completed an elicitation in URL mode.
const ElicitationComplete = "notifications/elicitation/complete"

// ResourceUpdated is a server's notification that a resource has changed.
const ResourceUpdated = "notifications/resources/updated"

// A Stream sends messages to a client in order: any number of notifications and requests from the
// proxy, and one reply to the client's request. The parts passed to a method form a single message.
// A Stream does not keep them.
type Stream interface {
	Send(parts ...[]byte)
	Reply(parts ...[]byte)
}
