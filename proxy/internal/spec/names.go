package spec

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

var ErrCancelled = errors.New("cancelled by the client")

var ErrGone = errors.New("the client is gone")

var ErrClosing = errors.New("the proxy ends")

// A Stream carries messages to a client in the order in which they are sent:
// any number of notifications and requests of ours, and one reply to the
// request that it belongs to. The parts of one whole message are not kept.
type Stream interface {
	Send(parts ...[]byte)
	Reply(parts ...[]byte)
}

func Member(obj []byte, key string) string {
	v, _ := rawjson.Member(obj, key)
	s, _ := rawjson.String(v)
	return s
}

// CodeHeaderMismatch is of revision 2026-07-28.
const CodeHeaderMismatch = -32020

// UnsupportedVersion is the answer of 2026-07-28 to a version that is not spoken.
func UnsupportedVersion(id []byte, version string) []byte {
	e := mcp.UnsupportedProtocolVersionError{Version: version, Supported: mcp.ValidProtocolVersions}.JSONRPCError()
	return errorReply(id, e.Error)
}

// errorReply writes an error of mcp-go under the id of the client.
func errorReply(id []byte, e any) []byte {
	body, err := json.Marshal(e)
	if err != nil {
		return wire.AppendError(nil, id, CodeInternal, "no answer could be made", nil)
	}
	return append(append(wire.ErrorHead(id), body...), wire.Tail...)
}

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

// A Withdrawal is [errCancelled] with the reason that the client gave in
// notifications/cancelled, for the server to know.
type CancelReason string

func (w CancelReason) Error() string        { return string(w) }
func (w CancelReason) Is(target error) bool { return target == ErrCancelled }

// RefusedRequest is the answer to a request that is barred.
func RefusedRequest(id []byte, why string) []byte {
	return wire.AppendError(nil, id, CodeInvalidRequest, why, nil)
}

// JSON-RPC codes that this proxy answers by itself.
const (
	codeParse          = -32700
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
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

// TasksOnPage is how many tasks a page of tasks/list has.
const TaskPageSize = 32

// CodeMissingCapability is of revision 2026-07-28.
const CodeMissingCapability = -32021

// NoTask answers a request for a task that its session does not have. It says
// the same of a task of others.
const NoTask = "Failed to retrieve task: Task not found"

// AboutTask reports whether the requests of a method name a task.
func NamesTask(method string) bool {
	switch method {
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		return true
	}
	return false
}

// TaskStatus is the notification of 2025-11-25 of how a task stands.
const TaskStatus = "notifications/tasks/status"

// ElicitationComplete is what an upstream of 2025-11-25 says once a person
// has done what it sent them to a URL for.
const ElicitationComplete = "notifications/elicitation/complete"

const ResourceUpdated = "notifications/resources/updated"
