package proxytest

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// CanTasks contains the capabilities of a client for revision 2026-07-28 that supports tasks.
const CanTasks = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// StartWithTasks starts a site whose upstream can run calls as tasks. If s specifies no tools, the
// upstream has those of [testserver.Attack].
func StartWithTasks(t *testing.T, s Setup) *Site {
	t.Helper()
	if s.Server.Tools == nil {
		s.Server.Tools = testserver.Attack()
	}
	support := "optional"
	if s.Server.Revisions != testserver.Both { // with both revision families, some of the upstream's clients do not support tasks, so its tools must not require them
		support = "required"
	}
	s.Server.Tools = testserver.Tasked(s.Server.Tools, support)
	if s.Server.Tasks == nil {
		s.Server.Tasks = &testserver.Tasks{}
	}
	st := Start(t, s)
	t.Cleanup(func() {
		st.Upstream.Release()
		st.Upstream.StopTasks()
	})
	return st
}

// StartTasksOnly starts a site whose upstream uses revision 2026-07-28, runs all calls as tasks,
// and refuses calls from clients that do not support tasks.
func StartTasksOnly(t *testing.T, s Setup) *Site {
	s.Server.Revisions = testserver.Modern
	s.Server.Tasks = &testserver.Tasks{Poll: 1}
	return StartWithTasks(t, s)
}

// BeginTask calls a tool as a task and returns the task's ID.
func (c *Client) BeginTask(tool, args string) (id string) {
	c.T.Helper()
	r := c.Reply(c.CallAsTask(tool, args, ""))
	path := []string{"task", "taskId"}
	if c.Leg.Modern {
		path = path[1:]
	}
	id, err := strconv.Unquote(Member(r.Result, path...))
	if err != nil || id == "" || strings.Contains(id, "task-") {
		c.T.Fatalf("%s as a task: %s", tool, r.Raw)
	}
	return id
}

// CallAsTask asks the upstream to run a call as a task. It returns the ID of the request.
func (c *Client) CallAsTask(tool, args, meta string) (id string) {
	if c.Leg.Modern {
		return c.CallWith(tool, args, meta, "")
	}
	return c.CallWith(tool, args, meta, `,"task":{}`) // no ttl, because a server built with mcp-go keeps a goroutine until the ttl expires, and the tests would report this as a leak
}

// RequestTask sends a request about a task and returns the ID of the request.
func (c *Client) RequestTask(method, task string) (id string) {
	return c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"tasks/` + method + `","params":{%META%"taskId":"` + task + `"}}`)
}

// TaskOutcome waits until the task ends. It returns a message with the task's result or error. It
// works in all revisions.
func (c *Client) TaskOutcome(task string) Message {
	c.T.Helper()
	if !c.Leg.Modern {
		return c.Reply(c.RequestTask("result", task))
	}
	var r Message
	c.Eventually("the task is over", func() bool {
		r = c.Reply(c.RequestTask("get", task))
		return Member(r.Result, "status") != `"working"`
	})
	return Message{Raw: r.Raw, Result: json.RawMessage(Member(r.Result, "result")), Error: json.RawMessage(Member(r.Result, "error"))}
}
