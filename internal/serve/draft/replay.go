package draft

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// Replayed is what a draft would have changed.
type Replayed struct {
	replay.Report
	Record   string // what was read
	Same     bool   // the draft is the policy in force
	Refused  int    // decisions that were another, and would be a refusal
	Asked    int
	Allowed  int
	Diverges []replay.Divergence // the first ones
	Left     int                 // records before the time that was asked for
	Ended    string              // why it was not read to its end; empty: it was
	Took     time.Duration
}

// More is how many decisions come out otherwise beyond those that are listed.
func (r *Replayed) More() int { return r.Refused + r.Asked + r.Allowed - len(r.Diverges) }

// Read is how many records were read.
func (r *Replayed) Read() int { return int(r.Records) } //nolint:gosec // at most mostRecords

func (d *Desk) log() *Log {
	if d.options.Log == nil {
		return nil
	}
	return d.options.Log()
}

// Replay makes the decisions on record again under the policy with the draft: all, or those
// since a time. One such job runs at a time; it ends with the context.
func (d *Desk) Replay(ctx context.Context, draft Draft, since time.Time) (*Replayed, error) {
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

func (d *Desk) replay(ctx context.Context, x *candidate, log *Log, since time.Time, r *Replayed) error {
	result, was, err := x.build()
	if err != nil {
		return err
	}
	whole, err := trail.Whole(ctx, log.Source)
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
			r.Ended = fmt.Sprintf("%.0f s were over", replayTime.Seconds())
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
		if e.Time.Before(since) && e.Event != "start" && e.Event != "policy" { // which say how to read the others
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

// count counts a decision that comes out otherwise.
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
