package tasks

import (
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Clients of revision 2026-07-28 can name tasks in subscriptions/listen (taskIds). They get
// notifications/tasks with the content of a tasks/get result.

// Agree subscribes to those tasks of the filter that are the client's own, and returns their ids as
// an array.
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

// subscribersOf returns the subscriptions that name a task.
func (s *Tasks) subscribersOf(x *Task) (list []*session.Subscription) {
	for _, c := range s.Sessions.Clients() {
		if c.Session == x.owner() {
			list = append(list, c.Subscriptions.OfTask(x.id)...)
		}
	}
	return list
}

// changed sends notifications/tasks to the subscribers of a task whose status has changed.
func (s *Tasks) changed(x *Task) {
	if len(s.subscribersOf(x)) == 0 {
		return
	}
	s.Life.Background(func() {
		detail, err := s.Detail(s.Life.Ctx, x)
		if err != nil {
			s.Log.Debug("telling of a task", "upstream", x.Upstream.Config.Name, "call", x.Ticket.Number, "error", err)
			return
		}
		params := wire.AppendWithout(nil, detail, "resultType")
		for _, sub := range s.subscribersOf(x) {
			sub.Outbox.Add(wire.AppendNotification(nil, "notifications/tasks", wire.WithSubscription(params, sub.ID)))
		}
	})
}

// Detail returns the task in the form of a tasks/get result of 2026-07-28.
func (s *Tasks) Detail(ctx context.Context, x *Task) ([]byte, error) {
	if !x.rev.TaskExtension {
		return s.emulatedDetail(ctx, x)
	}
	reply, err := s.Request(ctx, x, "tasks/get")
	switch {
	case err != nil:
		return nil, err
	case reply.Error != nil:
		return nil, upstream.Refused(reply.Error)
	}
	about, err := s.read(x, reply.Result)
	if err != nil {
		return nil, err
	}
	s.Reached(ctx, x, about)
	return wire.RelateTask(wire.RenameTask(reply.Result, x.id), x.id), nil
}
