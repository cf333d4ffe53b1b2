package proxy

import (
	"context"
	"errors"
	"slices"
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
		s.Reply(wire.AppendError(nil, m.ID, code, text, nil))
		return
	}
	all := slices.DeleteFunc(p.tasks.of(c.session), func(x *task) bool { return x.modern })
	from, ok := cursorOf(m.Params, len(all), func(i int) uint64 { return all[i].ticket.Number })
	if !ok {
		s.Reply(wire.AppendError(nil, m.ID, codeInvalidParams, "Unknown cursor", nil))
		return
	}
	page := all[from:min(from+tasksOnPage, len(all))]
	next := ""
	if from+len(page) < len(all) {
		next = strconv.FormatUint(page[len(page)-1].ticket.Number, 10)
	}
	s.Reply(wire.AppendResult(nil, m.ID, taskPage(p.showTasks(page), next)))
}

// taskPage is a result of tasks/list; tasks that are nil are gone.
func taskPage(objects [][]byte, next string) []byte {
	result := []byte(`{"tasks":[`)
	for _, object := range objects {
		if object == nil {
			continue
		}
		if result[len(result)-1] != '[' {
			result = append(result, ',')
		}
		result = append(result, object...)
	}
	result = append(result, ']')
	if next != "" {
		result = rawjson.AppendString(append(result, `,"nextCursor":`...), next)
	}
	return append(result, '}')
}

// cursorOf is where the page of a list of n begins that a request asks for;
// false: nowhere. A cursor is the number of an element, and they increase: so it
// stays good when elements are forgotten.
func cursorOf(params []byte, n int, number func(i int) uint64) (from int, ok bool) {
	lit, paged := rawjson.Member(params, "cursor")
	if !paged {
		return 0, true
	}
	text, isString := rawjson.String(lit)
	after, err := strconv.ParseUint(text, 10, 64)
	if !isString || err != nil {
		return 0, false
	}
	for from < n && number(from) <= after {
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
