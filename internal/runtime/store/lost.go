package store

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// LostCall is an open call whose process has ended. Its outcome stays unknown until an operator
// records one.
type LostCall struct {
	Session string
	Process string // process that admitted the call; empty if the call was admitted by an older version of petrigate, which did not store the process
	Call    uint64
	Tool    string
	Since   time.Time
}

// LostCalls lists the open calls whose processes have ended. It reads the sessions with open calls, but
// no records.
func (d *Durable) LostCalls(ctx context.Context) ([]LostCall, error) {
	if _, err := d.presence.endedProcesses(ctx); err != nil {
		return nil, err
	}
	var lost []LostCall
	err := eachOpen(ctx, d.database, func(session string, calls []statecode.OpenCall) {
		for _, c := range calls {
			if d.presence.admitterEnded(c.Process) {
				lost = append(lost, LostCall{Session: session, Process: c.Process, Call: c.Number, Tool: c.Tool, Since: c.Since})
			}
		}
	})
	return lost, err
}

// eachOpen calls f for each session in the database that has open calls. It reads no records.
func eachOpen(ctx context.Context, b backend.Backend, f func(session string, calls []statecode.OpenCall)) error {
	for p, err := range b.List(ctx, backend.Session, statecode.OpenCalls) {
		if err != nil {
			return err
		}
		_, calls, err := statecode.ReadOpen(p.ID.Name, p.Data)
		if err != nil {
			return err
		}
		f(p.ID.Name, calls)
	}
	return nil
}

// LostCallsOf returns the set of the session's open calls whose processes have ended. It uses the
// session's cached state; to refresh that state, call View first.
func (d *Durable) LostCallsOf(ctx context.Context, k admission.Key) (map[uint64]bool, error) {
	admitted := map[uint64]string{}
	err := d.inspect(ctx, k, func(e *entry) {
		for number, process := range e.admittedBy {
			if e.state.Calls[number] != nil && process != d.database.Writer() {
				admitted[number] = process
			}
		}
	})
	if err != nil || len(admitted) == 0 {
		return nil, err
	}
	if _, err := d.presence.endedProcesses(ctx); err != nil {
		return nil, err
	}
	lost := map[uint64]bool{}
	for number, process := range admitted {
		if d.presence.admitterEnded(process) {
			lost[number] = true
		}
	}
	return lost, nil
}
