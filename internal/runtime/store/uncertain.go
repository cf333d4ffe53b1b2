package store

import (
	"context"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// finishUncertain ends the steps of a commit whose outcome is unknown. If the database can be read,
// the records of this process show which steps were committed; the other steps fail as stale, and
// the caller stages them again. A step without records fails as stale too: its rows are read again,
// with whatever was committed. If the database cannot be read, all steps fail with why, and their
// calls stay uncertain.
func (d *Durable) finishUncertain(ctx context.Context, steps []*queued, why error) {
	n := 0
	for _, s := range steps {
		n += len(s.op.Events)
	}
	there, err := d.lastRecords(ctx, n)
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
				d.uncertain.calls = append(d.uncertain.calls, admitted{s.session, s.call, string(s.op.Events[0].Object)})
			}
			s.fail(why, why)
		}
	}
	if d.finishBatch(sure); err != nil {
		d.uncertain.records += n
	}
}

// lastRecords returns the objects of the last n records of this process.
func (d *Durable) lastRecords(ctx context.Context, n int) (map[string]bool, error) {
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

// resolveUncertain finds out which uncertain calls were committed. It must succeed before the next
// commit.
func (d *Durable) resolveUncertain(ctx context.Context) error {
	if d.uncertain.records == 0 {
		return nil
	}
	there, err := d.lastRecords(ctx, d.uncertain.records)
	if err != nil {
		return err
	}
	for _, c := range d.uncertain.calls {
		if there[c.record] {
			d.unsent.add(c)
		}
	}
	d.uncertain = uncertainCalls{}
	return nil
}

// settledBySelf is the actor in the outcome record of a call that was never sent.
const settledBySelf = "petrigate: the call was never sent"

// settleUnsent settles the calls that were not sent as failures.
func (d *Durable) settleUnsent() {
	for _, c := range d.unsent.takeAll() {
		ctx, now := context.Background(), d.now()
		err := admission.Update(ctx, d, c.session, func(s *gate.State) (admission.Change, error) {
			o := s.Calls[c.call]
			if o == nil {
				return admission.Change{}, nil
			}
			return admission.Change{Delta: s.Policy().SettleAt(s, c.call, gate.Failure, now), Events: []audit.Event{audit.Outcome{
				Time: now, Event: "outcome", Session: c.session.Session, Call: c.call, Tool: o.Call.Tool,
				Outcome: gate.Failure.String(), By: settledBySelf,
			}}}, nil
		})
		if err != nil {
			d.log.Error("cannot settle a call that was admitted but never sent: settle it as a failure", "session", c.session.Session, "call", c.call, "error", err)
		}
	}
}
