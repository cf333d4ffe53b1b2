package proxy

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// tasksOnPage is how many tasks a page of tasks/list has.
const tasksOnPage = 32

// listTasks serves tasks/list: the tasks of the session, of all upstreams, in
// the order in which they were made. A list of an upstream may hold those of
// other sessions, and is never asked for.
func (p *Proxy) listTasks(ctx context.Context, c *client, m wire.Message, meta wire.Meta, s stream) {
	p.awaitUpstreams(ctx)
	if code, text := p.refuseTask(c.speaker(meta), m.Method); code != 0 {
		s.reply(wire.AppendError(nil, m.ID, code, text, nil))
		return
	}
	all := p.tasks.of(c.session)
	from, ok := pageOf(all, m.Params)
	if !ok {
		s.reply(wire.AppendError(nil, m.ID, codeInvalidParams, "Unknown cursor", nil))
		return
	}
	page := all[from:min(from+tasksOnPage, len(all))]
	result := []byte(`{"tasks":[`)
	for _, object := range p.showTasks(page) {
		if object == nil {
			continue
		}
		if result[len(result)-1] != '[' {
			result = append(result, ',')
		}
		result = append(result, object...)
	}
	result = append(result, ']')
	if from+len(page) < len(all) {
		result = rawjson.AppendString(append(result, `,"nextCursor":`...), page[len(page)-1].cursor())
	}
	s.reply(wire.AppendResult(nil, m.ID, append(result, '}')))
}

// cursor is a place in a list, behind the task.
func (x *task) cursor() string { return strconv.FormatUint(x.ticket.Number, 10) }

// pageOf is where the page begins that a request asks for; false: nowhere. A
// cursor names a call, and so stays good when tasks are forgotten.
func pageOf(all []*task, params []byte) (from int, ok bool) {
	lit, paged := rawjson.Member(params, "cursor")
	if !paged {
		return 0, true
	}
	text, isString := rawjson.String(lit)
	after, err := strconv.ParseUint(text, 10, 64)
	if !isString || err != nil {
		return 0, false
	}
	for from < len(all) && all[from].ticket.Number <= after {
		from++
	}
	return from, true
}

// showTasks is the tasks as their upstreams show them now; nil: it is gone.
func (p *Proxy) showTasks(page []*task) [][]byte {
	objects := make([][]byte, len(page))
	var all sync.WaitGroup
	for i, x := range page {
		all.Go(func() { objects[i] = p.showTask(x) })
	}
	all.Wait()
	return objects
}

func (p *Proxy) showTask(x *task) []byte {
	if about, err := p.poll(x); errors.Is(err, errTaskGone) {
		return nil
	} else if err == nil {
		p.reached(p.ctx, x, about)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.object
}
