package tasks

import (
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// List serves tasks/list (2025-11-25): the tasks of the session, of all servers, in
// the order in which they were made. A list of a server may hold those of other
// sessions, and is never asked for.
func (s *Tasks) List(q session.Request) ([]byte, error) {
	if err := s.refuse(q.Peer(), q.Message.Method); err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(s.of(q.Client.Session), func(x *Task) bool { return x.rev.TaskExtension })
	from, ok := afterCursor(q.Message.Params, all)
	if !ok {
		return nil, wire.NewFault(spec.CodeInvalidParams, "Unknown cursor")
	}
	page := all[from:min(from+spec.TaskPageSize, len(all))]
	result := rawjson.Object{}.Raw("tasks", rawjson.Array(s.current(page)...))
	if from+len(page) < len(all) {
		result = result.String("nextCursor", strconv.FormatUint(page[len(page)-1].Ticket.Number, 10))
	}
	return result.Bytes(), nil
}

// afterCursor returns where the page of a list begins that a request asks for;
// false: nowhere. A cursor is the number of a call, and they increase: so it stays
// good when tasks are forgotten.
func afterCursor(params []byte, all []*Task) (from int, ok bool) {
	lit, paged := rawjson.Member(params, "cursor")
	if !paged {
		return 0, true
	}
	text, isString := rawjson.String(lit)
	after, err := strconv.ParseUint(text, 10, 64)
	if !isString || err != nil {
		return 0, false
	}
	for from < len(all) && all[from].Ticket.Number <= after {
		from++
	}
	return from, true
}

// current returns the tasks as their servers show them now, without those that are
// gone.
func (s *Tasks) current(page []*Task) [][]byte {
	objects := make([][]byte, len(page))
	var all sync.WaitGroup
	for i, x := range page {
		all.Go(func() {
			about, err := s.get(x)
			if errors.Is(err, errTaskGone) {
				return
			}
			if err == nil {
				s.Reached(s.Life.Ctx, x, about)
			}
			objects[i] = x.shown()
		})
	}
	all.Wait()
	return slices.DeleteFunc(objects, func(object []byte) bool { return object == nil })
}
