package draft

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// Replayed describes how a draft would have changed the recorded decisions.
type Replayed struct {
	replay.Report
	Record   string // name of the log that contains the decisions
	Same     bool   // whether the draft leaves the policy unchanged
	Refused  int    // number of recorded decisions that the draft would change to a refusal
	Asked    int
	Allowed  int
	Diverges []replay.Divergence // the changed decisions, up to a limit
	Left     int                 // number of records that were skipped because they are older than the requested time
	Ended    string              // why reading stopped early; empty if everything was read
	Took     time.Duration
}

// More returns the number of changed decisions that are not in Diverges.
func (r *Replayed) More() int { return r.Refused + r.Asked + r.Allowed - len(r.Diverges) }

// Read returns the number of records that were replayed. It does not count the skipped ones.
func (r *Replayed) Read() int { return int(r.Records) } //nolint:gosec // Records is at most maxRecords

func (d *Evaluator) log() *Log {
	if d.options.Log == nil {
		return nil
	}
	return d.options.Log()
}

// Replay replays recorded decisions under the policy with the draft applied. If the given time is
// not zero, it replays only the decisions made at or after this time. It returns ErrBusy if another
// replay is running, and stops when ctx is done.
func (d *Evaluator) Replay(ctx context.Context, draft Draft, since time.Time) (*Replayed, error) {
	x, err := d.applyDraft(draft)
	if err != nil {
		return nil, err
	}
	log := d.log()
	if log == nil {
		return nil, ErrNoRecord
	}
	began := d.options.Now()
	r := Replayed{Record: log.Name}
	err = d.run(ctx, d.replays.tryAcquire, replayTime+checkTime, func(ctx context.Context) error { return d.replay(ctx, x, log, since, &r) })
	if err != nil {
		return nil, err
	}
	r.Took = d.options.Now().Sub(began)
	return &r, nil
}

func (d *Evaluator) replay(ctx context.Context, x *candidate, log *Log, since time.Time, r *Replayed) error {
	result, was, err := x.build()
	if err != nil {
		return err
	}
	whole, err := trail.CompleteSince(ctx, log.Source)
	if err != nil {
		return fmt.Errorf("reading %s: %w", log.Name, err)
	}
	run, err := replay.New(replay.Options{
		Policy: result.Policy, Active: result.Active, Durable: log.Durable, Partial: !since.IsZero(), Whole: whole,
		Differs: func(v *replay.Divergence) { r.count(v) },
	})
	if err != nil {
		return err
	}
	reading, cancel := context.WithTimeout(ctx, replayTime)
	defer cancel()
	taken := 0
	for record, err := range log.Records(reading, nil) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case reading.Err() != nil:
			r.Ended = fmt.Sprintf("%.0f s have passed", replayTime.Seconds())
		case err != nil:
			return fmt.Errorf("reading %s: %w", log.Name, err)
		case taken == maxRecords:
			r.Ended = fmt.Sprintf("%d records were read", maxRecords)
		}
		if r.Ended != "" {
			break
		}
		e, err := record.Entry()
		if err != nil {
			return fmt.Errorf("record %d cannot be read: %w", record.Seq, err)
		}
		if e.Time.Before(since) && e.Event != "start" && e.Event != "policy" { // never skip records of process starts and policy changes, because later records depend on them
			r.Left++
			continue
		}
		taken++
		run.Add(&record, &e)
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	r.Report = run.Report()
	r.Same = was.Policy != nil && r.Policy == was.Policy.Fingerprint()
	return nil
}

// count adds a changed decision to the totals. It also adds the decision to Diverges, which holds
// at most maxShown decisions.
func (r *Replayed) count(v *replay.Divergence) {
	switch v.Now {
	case "refuse":
		r.Refused++
	case "ask":
		r.Asked++
	default:
		r.Allowed++
	}
	if len(r.Diverges) < maxShown {
		r.Diverges = append(r.Diverges, *v)
	}
}
