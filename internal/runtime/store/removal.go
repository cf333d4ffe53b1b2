package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Run removes old records until ctx is done.
func (r *Retention) Run(ctx context.Context) {
	lastErr := ""
	for wait := firstRound; sleep(ctx, wait) == nil; {
		next, err := r.runRound(ctx)
		if err != nil && ctx.Err() == nil {
			next = retryDelay
			if err.Error() != lastErr {
				r.log.Warn("cannot remove records older than audit.keep; retrying", "error", err)
			}
			lastErr = err.Error()
		}
		wait = max(next, time.Second)
	}
}

// runRound performs a round of removals if one is due, and returns the time until the next round.
func (r *Retention) runRound(ctx context.Context) (next time.Duration, err error) {
	every, now := min(r.keep/roundsPerKeep, maxInterval), r.now()
	copied, removal, version, err := backend.ReadRemoval(ctx, r.database)
	if err != nil {
		return 0, err
	}
	if since := now.Sub(removal.Time); since >= 0 && since < every {
		return every - since, nil
	}
	removal.Time = now
	row := newRow(&backend.Part{ID: backend.RemovalID, Version: version})
	if err := r.noteRemoval(ctx, row, removal, nil); err != nil {
		return every, ignoreStale(err)
	}
	last, err := r.verifyEvent(ctx, copied, removal.Event)
	if err != nil {
		return 0, err
	}
	if err := r.remove(ctx, last.Chains); err != nil { // finish the removal that an ended process began
		return 0, err
	}
	for {
		e, err := r.plan(ctx, last, now.Add(-r.keep))
		if err != nil || e == nil {
			return every, err
		}
		if err := r.noteRemoval(ctx, row, removal, e); err != nil {
			return every, ignoreStale(err)
		}
		if err := r.remove(ctx, e.Chains); err != nil {
			return 0, err
		}
		r.log.Info("removed records older than audit.keep", "before", e.Before, "records", e.Records-last.Records)
		last = e
	}
}

// ignoreStale returns nil for [admission.ErrStale], which means that another process has already
// begun the removal. It returns other errors unchanged.
func ignoreStale(err error) error {
	if errors.Is(err, admission.ErrStale) {
		return nil
	}
	return err
}

// noteRemoval stores a removal in the database. If e is not nil, noteRemoval also records the event
// e in the same transaction. It returns [admission.ErrStale] if another process has stored a
// removal in the meantime.
func (r *Retention) noteRemoval(ctx context.Context, row *row, removal backend.Removal, e *audit.Removed) error {
	s := r.newQueued(admission.Key{})
	if e != nil {
		if err := s.addEvents([]audit.Event{*e}); err != nil {
			return err
		}
		removal.Event = s.op.Events[0].Object
	}
	data, err := json.Marshal(removal)
	if err != nil {
		return err
	}
	s.addWrite(row, backend.Write{ID: row.id, Version: row.version, Data: data})
	return r.enqueue(s).Wait(ctx)
}

// verifyEvent checks that the removal event e is genuine, and returns it. The next removal event
// repeats the contents of e, so a forged event must not be used. e was decoded from the given JSON.
// It is genuine if a record in the database has the same JSON. If the JSON is nil, verifyEvent does
// not check e.
func (r *Retention) verifyEvent(ctx context.Context, e *audit.Removed, object []byte) (*audit.Removed, error) {
	if object == nil {
		return e, nil
	}
	for record, err := range r.database.Records(ctx, backend.Query{Since: e.Time.Add(-time.Second)}) {
		switch {
		case err != nil:
			return nil, err
		case bytes.Equal(record.Object, object):
			return e, nil
		case record.Time.Sub(e.Time) > backend.Skew:
			return nil, errNoEvent
		}
	}
	return nil, errNoEvent
}

var errNoEvent = errors.New("the record of the last removal of old records is missing or was changed; see petrigate audit verify")

// remove removes the oldest records of each chain, up to the given record of the chain.
func (r *Retention) remove(ctx context.Context, chains []audit.Head) error {
	for _, h := range chains {
		for n := removalBatch; n == removalBatch; {
			began := time.Now()
			var err error
			if n, err = r.database.RemoveRecords(ctx, h.Writer, h.Seq, removalBatch); err != nil {
				return err
			}
			if n == 0 {
				break
			}
			if err := r.pause(ctx, max(9*time.Since(began), minPause)); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
