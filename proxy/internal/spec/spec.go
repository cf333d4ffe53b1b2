// Package spec defines the terms of the MCP specification used by several packages of the proxy:
// methods, notifications, error codes, and members of some messages.
package spec

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// LogLevels maps the MCP log levels, which are the syslog severities, to numbers. More severe
// levels have higher numbers.
var LogLevels = map[string]int{
	"debug": 0, "info": 1, "notice": 2, "warning": 3, "error": 4, "critical": 5, "alert": 6, "emergency": 7,
}

// LevelTimeout is how long the proxy waits for a server's response to logging/setLevel.
const LevelTimeout = 5 * time.Second

// Notifications that a list has changed.
const (
	ListChanged          = "notifications/tools/list_changed"
	PromptsListChanged   = "notifications/prompts/list_changed"
	ResourcesListChanged = "notifications/resources/list_changed"
)

// ListTimeout is the timeout of a tools/list request to a server.
const ListTimeout = 30 * time.Second

// Methods of calls. A call is a request that the policies must allow. Its outcome is recorded.
const (
	CallTool     = "tools/call"
	GetPrompt    = "prompts/get"
	ReadResource = "resources/read"
)

// IsCall reports whether requests with this method are calls.
func IsCall(method string) bool {
	return method == CallTool || method == GetPrompt || method == ReadResource
}

// ElicitationComplete is a notification from servers that use revision 2025-11-25. It means that a
// person has completed an elicitation in URL mode.
const ElicitationComplete = "notifications/elicitation/complete"

// ResourceUpdated is a server's notification that a resource has changed.
const ResourceUpdated = "notifications/resources/updated"

// A Stream sends messages to a client in order: any number of notifications and requests from the
// proxy, and one reply to the client's request. Each method call sends one message, which can
// consist of several parts. A Stream does not retain the parts.
type Stream interface {
	Send(parts ...[]byte)
	Reply(parts ...[]byte)
}

// Reasons why a client's request is canceled.
var (
	ErrCancelled = errors.New("cancelled by the client") // the client has sent notifications/cancelled
	ErrGone      = errors.New("the client has disconnected")
	ErrClosing   = errors.New("the proxy is stopping")
)

// A CancelReason is an [ErrCancelled] with the reason given by the client in
// notifications/cancelled. The reason is passed on to the server.
type CancelReason string

func (w CancelReason) Error() string        { return string(w) }
func (w CancelReason) Is(target error) bool { return target == ErrCancelled }

// Error codes defined by revision 2026-07-28.
const (
	CodeHeaderMismatch    = -32020
	CodeMissingCapability = -32021
)

// UnsupportedVersion returns the error defined by revision 2026-07-28 for an unsupported protocol
// version.
func UnsupportedVersion(version string) *wire.Fault {
	e := mcp.UnsupportedProtocolVersionError{Version: version, Supported: mcp.ValidProtocolVersions}.JSONRPCError().Error
	data, err := json.Marshal(e.Data)
	if err != nil {
		return wire.NewFault(wire.CodeInternal, "could not encode an answer")
	}
	return &wire.Fault{Code: e.Code, Message: e.Message, Data: data}
}

// Declares reports whether the capabilities contain an object at the path given by keys.
func Declares(capabilities []byte, keys ...string) bool {
	value, ok := rawjson.MemberAt(capabilities, keys...)
	return ok && rawjson.Kind(value) == '{'
}

// Input returns an entry of inputRequests. The entry always has params, even for roots/list,
// because some clients cannot read an entry without params.
func Input(method string, params []byte) []byte {
	if params == nil {
		params = []byte(`{}`)
	}
	return rawjson.Object{}.String("method", method).Raw("params", params).Bytes()
}

// MaxInputs is the maximum number of inputRequests in a result.
const MaxInputs = 64

// An InputRequest is an entry in the inputRequests of a result.
type InputRequest struct {
	Key    string
	Method string
	Params []byte
}

// InputRequests returns the inputRequests of a result, which may be empty.
func InputRequests(result []byte) (list []InputRequest, err error) {
	requests, ok := rawjson.Member(result, "inputRequests")
	if !ok {
		return nil, nil // the server asks for no input, but wants the client to send the request again
	}
	whole := rawjson.Members(requests, func(key, value []byte, _ int) bool {
		params, _ := rawjson.Member(value, "params")
		list = append(list, InputRequest{string(key), rawjson.StringAt(value, "method"), params})
		return len(list) <= MaxInputs
	})
	if !whole {
		return nil, errors.New("its questions are invalid or too many")
	}
	return list, nil
}

// TasksExtension is the extension of revision 2026-07-28 declared by clients that support tasks and
// by servers that create them. In revision 2025-11-25, servers instead declare
// tasks.requests.tools.call, tasks.list and tasks.cancel.
const TasksExtension = "io.modelcontextprotocol/tasks"

// TaskCapabilities returns client capabilities that contain only the tasks extension. The proxy
// declares them in its own requests about tasks.
func TaskCapabilities() []byte { return []byte(`{"extensions":{"` + TasksExtension + `":{}}}`) }

// TasksSince is the first revision that has tasks.
const TasksSince = "2025-11-25"

// A client that uses revision 2026-07-28 can use tasks on a server that uses revision 2025-11-25.
// If a tool requires a task (execution.taskSupport: required) and the client supports tasks, the
// proxy calls the tool as a task. The client sees a task of the tasks extension, with inputRequests
// and a result or an error. The proxy also sends tasks/result, because the server's requests about
// the task arrive on the stream of the response.

// MissingTasks returns the error data for a client that lacks the tasks capability.
func MissingTasks() []byte {
	return rawjson.Object{}.Raw("requiredCapabilities", TaskCapabilities()).Bytes()
}

// LacksTasks returns the error for a request about tasks from a client that does not declare the
// tasks capability.
func LacksTasks() *wire.Fault {
	return &wire.Fault{Code: CodeMissingCapability, Message: "Missing required client capability", Data: MissingTasks()}
}

// NamesTask reports whether requests with this method contain a taskId.
func NamesTask(method string) bool {
	return slices.Contains([]string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/update"}, method)
}

// TaskPageSize is the number of tasks per page of tasks/list.
const TaskPageSize = 32

// TaskStatus is the notification of revision 2025-11-25 about a task's new status.
const TaskStatus = "notifications/tasks/status"

// NoTask is the error message for a task that the session does not have. It does not reveal whether
// another session has the task.
const NoTask = "Failed to retrieve task: Task not found"
