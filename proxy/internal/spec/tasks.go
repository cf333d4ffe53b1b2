package spec

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// TasksExtension is the extension of revision 2026-07-28 that clients declare if they support
// tasks, and that servers declare if they create tasks. In revision 2025-11-25, servers instead
// declare tasks.requests.tools.call, tasks.list and tasks.cancel.
const TasksExtension = "io.modelcontextprotocol/tasks"

// TakesTasks returns the client capabilities that the proxy declares in its own requests about
// tasks.
func TakesTasks() []byte { return []byte(`{"extensions":{"` + TasksExtension + `":{}}}`) }

// TasksSince is the first revision that has tasks.
const TasksSince = "2025-11-25"

// A client that uses revision 2026-07-28 can use tasks on a server that uses revision 2025-11-25.
// If a tool always requires a task (execution.taskSupport: required) and the client supports tasks,
// the proxy calls the tool as a task. It sends tasks/result on behalf of the client, because the
// server sends its own requests there. It presents the task in the form of the extension: the task
// contains its inputRequests and its result or error.

// MissingTasks returns the data of the error that is sent if the client lacks the tasks capability.
func MissingTasks() []byte { return rawjson.Object{}.Raw("requiredCapabilities", TakesTasks()).Bytes() }

// LacksTasks returns the error for a request about tasks from a client that does not declare tasks.
func LacksTasks() *wire.Fault {
	return &wire.Fault{Code: CodeMissingCapability, Message: "Missing required client capability", Data: MissingTasks()}
}

// NamesTask reports whether requests with this method contain a taskId.
func NamesTask(method string) bool {
	switch method {
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		return true
	}
	return false
}

// TaskPageSize is the number of tasks on each page of tasks/list.
const TaskPageSize = 32

// TaskStatus is the notification of revision 2025-11-25 that reports a new status of a task.
const TaskStatus = "notifications/tasks/status"

// NoTask is the error message for a task that does not belong to the session, even if the task
// belongs to another session.
const NoTask = "Failed to retrieve task: Task not found"
