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

// List serves tasks/list (2025-11-25). It lists the session's tasks on all servers, in the order of
// their creation. It never requests the servers' own lists, because they may contain tasks of other
// sessions.
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

// afterCursor returns the index where the requested page begins. It returns false if the cursor is
// invalid. A cursor is a call number. Call numbers only increase, so a cursor remains valid when
// tasks are dropped.
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

// current returns the current task objects, as the servers report them. It leaves out tasks that no
// longer exist.
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
