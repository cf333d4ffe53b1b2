package draft

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// Replayed is the effect that a draft would have had on the recorded decisions.
type Replayed struct {
	replay.Report
	Record   string // place of the records
	Same     bool   // the draft equals the policy in force
	Refused  int    // changed decisions that become a refusal
	Asked    int
	Allowed  int
	Diverges []replay.Divergence // the first changed decisions
	Left     int                 // records before the requested time
	Ended    string              // why reading stopped before the end; empty: all was read
	Took     time.Duration
}

// More returns the number of changed decisions that are not listed.
func (r *Replayed) More() int { return r.Refused + r.Asked + r.Allowed - len(r.Diverges) }

// Read returns the number of records that were read.
func (r *Replayed) Read() int { return int(r.Records) } //nolint:gosec // at most mostRecords

func (d *Desk) log() *Log {
	if d.options.Log == nil {
		return nil
	}
	return d.options.Log()
}

// Replay replays the recorded decisions under the policy with the draft: all, or those since a
// time. It returns ErrBusy while another replay runs, and stops when ctx ends.
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
		if e.Time.Before(since) && e.Event != "start" && e.Event != "policy" { // these say how to interpret later records
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

// count counts a changed decision.
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
