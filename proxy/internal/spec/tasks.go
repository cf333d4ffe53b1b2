package spec

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
func MissingTasks() []byte {
	return append(append([]byte(`{"requiredCapabilities":`), TakesTasks()...), '}')
}

// AboutTask reports whether the requests of a method name a task.
func NamesTask(method string) bool {
	switch method {
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		return true
	}
	return false
}

// TasksOnPage is how many tasks a page of tasks/list has.
const TaskPageSize = 32

// TaskStatus is the notification of 2025-11-25 of how a task stands.
const TaskStatus = "notifications/tasks/status"

// NoTask answers a request for a task that its session does not have. It says
// the same of a task of others.
const NoTask = "Failed to retrieve task: Task not found"
