package spec

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// TasksExtension is the extension of 2026-07-28 that clients declare if they support tasks, and
// servers if they create them. In 2025-11-25, servers declare tasks.requests.tools.call, tasks.list
// and tasks.cancel.
const TasksExtension = "io.modelcontextprotocol/tasks"

// TakesTasks returns the client capabilities that the proxy's own requests about tasks declare.
func TakesTasks() []byte { return []byte(`{"extensions":{"` + TasksExtension + `":{}}}`) }

// TasksSince is the first revision with tasks.
const TasksSince = "2025-11-25"

// Tasks of servers of 2025-11-25 for clients of 2026-07-28: a tool that is always a task
// (execution.taskSupport: required) is called as a task if the client supports tasks. The proxy
// sends tasks/result in the client's place, since the server sends its own requests there, and
// shows the task in the form of the extension: with its inputRequests, and its result or error in
// it.

// MissingTasks returns the data of an error for a missing tasks capability.
func MissingTasks() []byte { return rawjson.Object{}.Raw("requiredCapabilities", TakesTasks()).Bytes() }

// LacksTasks returns the fault for a request about tasks by a client that does not declare them.
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

// TaskStatus is the notification of 2025-11-25 about a changed task status.
const TaskStatus = "notifications/tasks/status"

// NoTask is the error text for a task that the session does not have, even if another session has
// it.
const NoTask = "Failed to retrieve task: Task not found"
