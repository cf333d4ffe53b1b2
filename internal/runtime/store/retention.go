package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

const (
	batchRecords = 50 // that one transaction removes

	leastRest  = 20 * time.Millisecond // after a transaction
	readAtOnce = 50                    // records, while others are looked for
	readRest   = 3 * time.Millisecond  // after these
	firstLook  = 10 * time.Second      // after the start: a process may not live long
	lookAgain  = time.Minute           // after a failure
	mostWait   = 6 * time.Hour         // between two rounds
	roundShare = 24                    // of the age of records, between two rounds
)

// A Retention removes old records from the database of a ledger. Of all processes one does so at a time.
//
// A round puts an event on record, which names the last record of each chain that is removed, and then
// removes those in small transactions. Where the process ends in between, the next round goes on.
// [survey] lists the records that stay.
type Retention struct {
	*Durable
	keep time.Duration
	rest func(ctx context.Context, t time.Duration) error // so that calls go first
}

// NewRetention returns what removes records that are older than keep.
func NewRetention(d *Durable, keep time.Duration) *Retention {
	return &Retention{Durable: d, keep: keep, rest: sleep}
}

// Run removes records until ctx is over.
func (r *Retention) Run(ctx context.Context) {
	said := ""
	for wait := firstLook; sleep(ctx, wait) == nil; {
		next, err := r.round(ctx)
		if err != nil && ctx.Err() == nil {
			next = lookAgain
			if err.Error() != said {
				r.log.Warn("records older than audit.keep cannot be removed; it is tried again", "error", err)
			}
			said = err.Error()
		}
		wait = max(next, time.Second)
	}
}

// sleep waits; its error is that of ctx.
func sleep(ctx context.Context, t time.Duration) error {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// round makes a round if one is due, and says when the next look is.
func (r *Retention) round(ctx context.Context) (next time.Duration, err error) {
	every, now := min(r.keep/roundShare, mostWait), r.now()
	copied, removal, version, err := readRemoved(ctx, r.database)
	if err != nil {
		return 0, err
	}
	if since := now.Sub(removal.Time); since >= 0 && since < every {
		return every - since, nil
	}
	removal.Time = now
	row := newRow(&backend.Part{ID: backend.RemovalID, Version: version})
	if err := r.noteRemoval(ctx, row, removal, nil); err != nil {
		return every, notStale(err)
	}
	last, err := r.onRecord(ctx, copied, removal.Event)
	if err != nil {
		return 0, err
	}
	if err := r.remove(ctx, last.Chains); err != nil { // what a process has left that ended
		return 0, err
	}
	for {
		e, err := r.plan(ctx, last, now.Add(-r.keep))
		if err != nil || e == nil {
			return every, err
		}
		if err := r.noteRemoval(ctx, row, removal, e); err != nil {
			return every, notStale(err)
		}
		if err := r.remove(ctx, e.Chains); err != nil {
			return 0, err
		}
		r.log.Info("records older than audit.keep are removed", "before", e.Before, "records", e.Records-last.Records)
		last = e
	}
}

// notStale returns err unless another process was faster: then that one removes.
func notStale(err error) error {
	if errors.Is(err, admission.ErrStale) {
		return nil
	}
	return err
}

// noteRemoval writes the part, and the event on record; nil: none. Its error is [admission.ErrStale] where
// another process has written the part meanwhile.
func (r *Retention) noteRemoval(ctx context.Context, row *row, removal backend.Removal, e *audit.Removed) error {
	s := r.newQueued(&entry{}, nil)
	if e != nil {
		events, err := r.events("", []audit.Event{*e})
		if err != nil {
			return err
		}
		s.op.Events, s.events = events, []audit.Event{*e}
		removal.Event = events[0].Object
	}
	data, err := json.Marshal(removal)
	if err != nil {
		return err
	}
	s.writes(row, backend.Write{ID: row.id, Version: row.version, Data: data})
	return r.enqueue(s).Wait(ctx)
}

// readRemoved reads the copy of the newest event of a removal, with the part that has it.
func readRemoved(ctx context.Context, b backend.Backend) (*audit.Removed, backend.Removal, int64, error) {
	e := &audit.Removed{}
	removal, version, err := backend.ReadRemoval(ctx, b)
	if err == nil && removal.Event != nil {
		if err = json.Unmarshal(removal.Event, e); err != nil {
			err = fmt.Errorf("reading how far old records are removed: %w", err)
		}
	}
	return e, removal, version, err
}

// onRecord returns the event if it is on record as the copy has it: what it says is repeated in the next one.
func (r *Retention) onRecord(ctx context.Context, e *audit.Removed, object []byte) (*audit.Removed, error) {
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

var errNoEvent = errors.New("the record that says how far old records were removed is missing or was changed; see petrigate audit verify")

// remove removes the records of chains up to those that are named.
func (r *Retention) remove(ctx context.Context, chains []audit.Head) error {
	for _, h := range chains {
		for n := batchRecords; n == batchRecords; {
			began := time.Now()
			var err error
			if n, err = r.database.RemoveRecords(ctx, h.Writer, h.Seq, batchRecords); err != nil {
				return err
			}
			if n == 0 {
				break
			}
			if err := r.rest(ctx, max(9*time.Since(began), leastRest)); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
