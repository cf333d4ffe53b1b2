package spec

import (
	"github.com/petrigate/petrigate/internal/rawjson"
)

// TasksExtension is the extension of 2026-07-28, declared by clients that take tasks
// and servers that make them. In 2025-11-25 servers declare tasks.requests.tools.call,
// tasks.list and tasks.cancel.
const TasksExtension = "io.modelcontextprotocol/tasks"

// TakesTasks returns the client capabilities that requests of the proxy for tasks
// declare.
func TakesTasks() []byte { return []byte(`{"extensions":{"` + TasksExtension + `":{}}}`) }

// Within follows keys through the objects that they name.
func MemberAt(obj []byte, keys ...string) (value []byte, ok bool) {
	for _, key := range keys {
		if obj, ok = rawjson.Member(obj, key); !ok {
			return nil, false
		}
	}
	return obj, true
}

// Declares reports whether capabilities have an object under the keys.
func Declares(capabilities []byte, keys ...string) bool {
	value, ok := MemberAt(capabilities, keys...)
	return ok && rawjson.Kind(value) == '{'
}

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
