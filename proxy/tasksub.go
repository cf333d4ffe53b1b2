package proxy

import (
	"context"
	"slices"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Clients of revision 2026-07-28 can be told of their tasks on a subscription.
// What they are told is what they would have been told had they asked.

// agreeTasks takes of the filter of a subscription the tasks that are the
// client's own, and returns them as a member; nil: none.
func (p *Proxy) agreeTasks(c *client, sub *subscription, filter []byte) []byte {
	wanted, _ := rawjson.Member(filter, "taskIds")
	b := []byte(`"taskIds":[`)
	rawjson.Elements(wanted, func(value []byte, _ int) bool {
		id, _ := rawjson.String(value)
		if p.tasks.find(c.session, id) != nil {
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

// subscribersOf is the subscriptions on which a task is told of.
func (p *Proxy) subscribersOf(x *task) (list []*subscription) {
	for _, c := range p.clientList() {
		if c.session != x.owner() {
			continue
		}
		c.mu.Lock()
		for _, s := range c.subscriptions {
			if slices.Contains(s.tasks, x.id) {
				list = append(list, s)
			}
		}
		c.mu.Unlock()
	}
	return list
}

// changed tells those who want to know that a task stands otherwise than before.
func (p *Proxy) changed(x *task) {
	if len(p.subscribersOf(x)) == 0 {
		return
	}
	p.background(func() {
		detail, err := p.detail(p.ctx, x)
		if err != nil {
			p.log.Debug("telling of a task", "upstream", x.upstream.config.Name, "call", x.ticket.Number, "error", err)
			return
		}
		params := wire.AppendWithout(nil, detail, "resultType")
		for _, s := range p.subscribersOf(x) {
			s.notes.add(wire.AppendNotification(nil, "notifications/tasks", wire.WithSubscription(params, s.id)))
		}
	})
}

// detail is the task as the newer era shows it.
func (p *Proxy) detail(ctx context.Context, x *task) ([]byte, error) {
	if !x.modern {
		return p.detailOlder(ctx, x)
	}
	reply, err := p.askUpstream(ctx, x, "tasks/get")
	switch {
	case err != nil:
		return nil, err
	case reply.Error != nil:
		return nil, refusedError(reply.Error)
	}
	about, err := p.read(x, reply.Result)
	if err != nil {
		return nil, err
	}
	p.reached(ctx, x, about)
	return wire.RelateTask(wire.RenameTask(reply.Result, x.id), x.id), nil
}
