package store

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// A LostCall is an open call whose process has ended: only an operator can say how it ended.
type LostCall struct {
	Session string
	Process string // that admitted it; empty: an older version, which did not write that
	Call    uint64
	Tool    string
	Since   time.Time
}

// Lost lists the open calls whose processes have ended. It reads the sessions that have open
// calls, and no records.
func (d *Durable) Lost(ctx context.Context) ([]LostCall, error) {
	if _, err := d.ended(ctx); err != nil {
		return nil, err
	}
	var lost []LostCall
	for p, err := range d.database.ListWith(ctx, backend.Session, statecode.OpenCalls) {
		if err != nil {
			return nil, err
		}
		_, calls, err := statecode.ReadOpen(p.ID.Name, p.Data)
		if err != nil {
			return nil, err
		}
		for _, c := range calls {
			if d.lost(c.Process) {
				lost = append(lost, LostCall{Session: p.ID.Name, Process: c.Process, Call: c.Number, Tool: c.Tool, Since: c.Since})
			}
		}
	}
	return lost, nil
}

// LostOf returns the numbers of the open calls of a session whose processes have ended, as the
// session was when it was read last: call View before.
func (d *Durable) LostOf(ctx context.Context, k admission.Key) (map[uint64]bool, error) {
	admitted := map[uint64]string{}
	err := d.look(ctx, k, func(e *entry) {
		for number, process := range e.others {
			if e.state.Calls[number] != nil && process != d.database.Writer() {
				admitted[number] = process
			}
		}
	})
	if err != nil || len(admitted) == 0 {
		return nil, err
	}
	if _, err := d.ended(ctx); err != nil {
		return nil, err
	}
	lost := map[uint64]bool{}
	for number, process := range admitted {
		if d.lost(process) {
			lost[number] = true
		}
	}
	return lost, nil
}

// lost reports whether a call that the process admitted has no process any more. It is as recent
// as the last look at the processes, see [Durable.ended].
func (d *Durable) lost(process string) bool {
	return process != d.database.Writer() && d.presence.gone(process)
}

// processesOf returns the processes that admitted the open calls of a session. It needs the lock.
func (d *Durable) processesOf(e *entry) statecode.Processes {
	for number := range e.others {
		if e.state.Calls[number] == nil {
			delete(e.others, number)
		}
	}
	return statecode.Processes{Own: d.database.Writer(), Others: e.others}
}
