package tasks

import (
	"bytes"
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
func (s *Tasks) List(c *session.Client, m wire.Message, meta wire.Meta, to spec.Stream) {
	if code, text := s.refuse(c.PeerOf(meta), m.Method); code != 0 {
		to.Reply(wire.AppendError(nil, m.ID, code, text, nil))
		return
	}
	all := slices.DeleteFunc(s.of(c.Session), func(x *Task) bool { return x.rev.TaskExtension })
	from, ok := afterCursor(m.Params, all)
	if !ok {
		to.Reply(wire.AppendError(nil, m.ID, spec.CodeInvalidParams, "Unknown cursor", nil))
		return
	}
	page := all[from:min(from+spec.TaskPageSize, len(all))]
	next := ""
	if from+len(page) < len(all) {
		next = strconv.FormatUint(page[len(page)-1].Ticket.Number, 10)
	}
	result := append([]byte(`{"tasks":[`), bytes.Join(s.current(page), []byte{','})...)
	result = append(result, ']')
	if next != "" {
		result = rawjson.AppendString(append(result, `,"nextCursor":`...), next)
	}
	to.Reply(wire.AppendResult(nil, m.ID, append(result, '}')))
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
