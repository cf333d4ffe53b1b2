// Package spec contains the terms of the MCP specification that several packages of the proxy use:
// methods, notifications, error codes, and members of some messages.
package spec

import "time"

// LogLevels are the severities of MCP, which are those of syslog, in ascending order.
var LogLevels = map[string]int{
	"debug": 0, "info": 1, "notice": 2, "warning": 3, "error": 4, "critical": 5, "alert": 6, "emergency": 7,
}

// LevelTimeout limits the wait for a server's answer to logging/setLevel.
const LevelTimeout = 5 * time.Second

// Notifications about changed lists.
const (
	ListChanged          = "notifications/tools/list_changed"
	PromptsListChanged   = "notifications/prompts/list_changed"
	ResourcesListChanged = "notifications/resources/list_changed"
)

// ListTimeout limits one tools/list request to a server.
const ListTimeout = 30 * time.Second

// The methods that are calls: the gate decides on them, and their outcomes are recorded.
const (
	CallTool     = "tools/call"
	GetPrompt    = "prompts/get"
	ReadResource = "resources/read"
)

// IsCall reports whether requests of a method are calls.
func IsCall(method string) bool {
	return method == CallTool || method == GetPrompt || method == ReadResource
}

// ElicitationComplete is the notification of a server of 2025-11-25 that a person has completed an
// elicitation in URL mode.
const ElicitationComplete = "notifications/elicitation/complete"

// ResourceUpdated is the notification that a resource has changed.
const ResourceUpdated = "notifications/resources/updated"

// A Stream sends messages to a client in order: any number of notifications and requests of the
// proxy, and one reply to the client's request. The parts form one message; a Stream does not keep
// them.
type Stream interface {
	Send(parts ...[]byte)
	Reply(parts ...[]byte)
}
