package store

import (
	"context"
	"sync"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// admitted is a call that may be, or is, admitted in the database, and is not sent.
type admitted struct {
	session admission.Key
	call    uint64
	record  string
}

// doubts are calls of which it is not known whether their admission was committed. Their
// callers were refused.
type doubts struct {
	calls   []admitted
	records int // that the commits in doubt had
}

// doubt finds out which steps of a commit took effect, if the database can be read. The
// others are undone, or are to be made again: their versions would show what took effect.
func (d *Durable) doubt(ctx context.Context, steps []*queued, why error) {
	n := 0
	for _, s := range steps {
		n += len(s.op.Events)
	}
	there, err := d.recorded(ctx, n)
	var sure []*queued
	for _, s := range steps {
		switch {
		case err == nil && len(s.op.Events) > 0 && there[string(s.op.Events[0].Object)]:
			s.op.Err = nil
			sure = append(sure, s)
		case err == nil:
			s.fail(admission.ErrStale, admission.ErrStale)
		default:
			if s.call != 0 && len(s.op.Events) > 0 {
				d.doubts.calls = append(d.doubts.calls, admitted{s.session, s.call, string(s.op.Events[0].Object)})
			}
			s.fail(why, why)
		}
	}
	if d.conclude(sure); err != nil {
		d.doubts.records += n
	}
}

// recorded returns the last records of this process.
func (d *Durable) recorded(ctx context.Context, n int) (map[string]bool, error) {
	there := make(map[string]bool, n)
	if n == 0 {
		return there, nil
	}
	for r, err := range d.database.Records(ctx, backend.Query{Writer: d.database.Writer(), Limit: n, Last: true}) {
		if err != nil {
			return nil, err
		}
		there[string(r.Object)] = true
	}
	return there, nil
}

// resolve ends the doubts before anything else is committed.
func (d *Durable) resolve(ctx context.Context) error {
	if d.doubts.records == 0 {
		return nil
	}
	there, err := d.recorded(ctx, d.doubts.records)
	if err != nil {
		return err
	}
	for _, c := range d.doubts.calls {
		if there[c.record] {
			d.unsent.add(c)
		}
	}
	d.doubts = doubts{}
	return nil
}

// unsent are calls that were admitted in the database, whose callers were refused.
type unsent struct {
	mu    sync.Mutex
	calls []admitted
}

func (u *unsent) add(c admitted) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls = append(u.calls, c)
}

func (u *unsent) take() []admitted {
	u.mu.Lock()
	defer u.mu.Unlock()
	calls := u.calls
	u.calls = nil
	return calls
}

// bySelf says on record who settled a call that was not sent.
const bySelf = "petrigate: it was never sent"

// settleUnsent settles calls that were not sent as failures.
func (d *Durable) settleUnsent() {
	for _, c := range d.unsent.take() {
		ctx, now := context.Background(), d.now()
		err := admission.Update(ctx, d, c.session, func(s *gate.State) (admission.Change, error) {
			o := s.Calls[c.call]
			if o == nil {
				return admission.Change{}, nil
			}
			return admission.Change{Delta: s.Policy().SettleAt(s, c.call, gate.Failure, now), Events: []audit.Event{audit.Outcome{
				Time: now, Event: "outcome", Session: c.session.Session, Call: c.call, Tool: o.Call.Tool,
				Outcome: gate.Failure.String(), By: bySelf,
			}}}, nil
		})
		if err != nil {
			d.log.Error("a call that was admitted and never sent stays unknown: settle it as a failure", "session", c.session.Session, "call", c.call, "error", err)
		}
	}
}
