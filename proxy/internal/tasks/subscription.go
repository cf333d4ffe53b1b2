package tasks

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// Clients that use revision 2026-07-28 can list tasks in subscriptions/listen (taskIds). They then
// receive notifications/tasks with the content of a tasks/get result.

// Agree subscribes to the tasks in the filter that belong to the client, and returns their IDs as a
// JSON array.
func (s *Tasks) Agree(c *session.Client, sub *session.Subscription, filter []byte) []byte {
	wanted, _ := rawjson.Member(filter, "taskIds")
	var ids [][]byte
	rawjson.Elements(wanted, func(value []byte, _ int) bool {
		id, _ := rawjson.String(value)
		if s.find(c.Session, id) != nil {
			sub.Tasks = append(sub.Tasks, id)
			ids = append(ids, rawjson.AppendString(nil, id))
		}
		return len(sub.Tasks) < MaxTasks
	})
	return rawjson.Array(ids...)
}
