package spec

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// TasksExtension is the extension of 2026-07-28, declared by clients that take tasks
// and servers that make them. In 2025-11-25 servers declare tasks.requests.tools.call,
// tasks.list and tasks.cancel.
const TasksExtension = "io.modelcontextprotocol/tasks"

// TakesTasks returns the client capabilities that requests of the proxy for tasks
// declare.
func TakesTasks() []byte { return []byte(`{"extensions":{"` + TasksExtension + `":{}}}`) }

// TasksSince is the first revision with tasks.
const TasksSince = "2025-11-25"

// Tasks of servers of 2025-11-25, for clients of 2026-07-28. A tool that is always a
// task (execution.taskSupport: required) is called as one if the client takes tasks.
// The proxy sends tasks/result in the client's place, since that is where the server
// sends its own requests, and shows the task as the extension does: with its
// inputRequests, and its result or error in it.

// MissingTasks is the data of an error that says what a client has to declare.
func MissingTasks() []byte { return rawjson.Object{}.Raw("requiredCapabilities", TakesTasks()).Bytes() }

// LacksTasks returns the fault of a request by a client that does not declare them.
func LacksTasks() *wire.Fault {
	return &wire.Fault{Code: CodeMissingCapability, Message: "Missing required client capability", Data: MissingTasks()}
}

// NamesTask reports whether requests of a method have a taskId.
func NamesTask(method string) bool {
	switch method {
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		return true
	}
	return false
}

// TaskPageSize is the number of tasks on a page of tasks/list.
const TaskPageSize = 32

// TaskStatus is the notification of 2025-11-25 that a task has another status.
const TaskStatus = "notifications/tasks/status"

// NoTask is the error for a task that the session does not have, also if another session
// has it.
const NoTask = "Failed to retrieve task: Task not found"
