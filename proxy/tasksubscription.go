package proxy

import (
	"context"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Clients of revision 2026-07-28 can name tasks in subscriptions/listen (taskIds).
// They get notifications/tasks with what tasks/get would have told them.

// agree takes of the filter of a subscription the tasks that are the client's own,
// and returns them as the member taskIds; nil: none.
func (s *tasks) agree(c *client, sub *subscription, filter []byte) []byte {
	wanted, _ := rawjson.Member(filter, "taskIds")
	b := []byte(`"taskIds":[`)
	rawjson.Elements(wanted, func(value []byte, _ int) bool {
		id, _ := rawjson.String(value)
		if s.find(c.session, id) != nil {
			if len(sub.tasks) > 0 {
				b = append(b, ',')
			}
			sub.tasks = append(sub.tasks, id)
			b = rawjson.AppendString(b, id)
		}
		return len(sub.tasks) < maxTasks
	})
	if len(sub.tasks) == 0 {
		return nil
	}
	return append(b, ']')
}

// subscribersOf returns the subscriptions that name a task.
func (s *tasks) subscribersOf(x *task) (list []*subscription) {
	for _, c := range s.sessions.clients() {
		if c.session == x.owner() {
			list = append(list, c.interests.inTask(x.id)...)
		}
	}
	return list
}

// changed sends notifications/tasks to the subscribers of a task whose status is
// another one.
func (s *tasks) changed(x *task) {
	if len(s.subscribersOf(x)) == 0 {
		return
	}
	s.life.background(func() {
		detail, err := s.detail(s.life.ctx, x)
		if err != nil {
			s.log.Debug("telling of a task", "upstream", x.upstream.config.Name, "call", x.ticket.Number, "error", err)
			return
		}
		params := wire.AppendWithout(nil, detail, "resultType")
		for _, sub := range s.subscribersOf(x) {
			sub.notes.add(wire.AppendNotification(nil, "notifications/tasks", wire.WithSubscription(params, sub.id)))
		}
	})
}

// detail returns the task as tasks/get shows it in 2026-07-28.
func (s *tasks) detail(ctx context.Context, x *task) ([]byte, error) {
	if !x.rev.TaskExtension {
		return s.emulatedDetail(ctx, x)
	}
	reply, err := s.request(ctx, x, "tasks/get")
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
	s.reached(ctx, x, about)
	return wire.RelateTask(wire.RenameTask(reply.Result, x.id), x.id), nil
}
