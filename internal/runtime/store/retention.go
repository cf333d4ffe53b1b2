package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

const (
	removalBatch = 50 // maximum number of records removed per transaction

	minPause      = 20 * time.Millisecond // shortest pause after a transaction
	surveyPage    = 50                    // number of records read at a time during the survey
	surveyPause   = 3 * time.Millisecond  // pause after each of the survey's reads
	firstRound    = 10 * time.Second      // delay after the start; short, because the process might end soon
	retryDelay    = time.Minute           // delay after a failure
	maxInterval   = 6 * time.Hour         // longest time between two rounds
	roundsPerKeep = 24                    // number of rounds in the time that records are kept
)

// Retention removes old records from a ledger's database. Only one process removes records at a
// time.
//
// A round first commits a removal event, which contains the last record to remove from each chain.
// It then removes the records in small transactions. If the process ends before all are removed,
// the next round continues. [survey] lists the records that are kept.
type Retention struct {
	*committer
	keep  time.Duration
	pause func(ctx context.Context, t time.Duration) error // waits between transactions, so that calls have priority
}

// NewRetention returns a Retention that removes records older than keep.
func NewRetention(d *Durable, keep time.Duration) *Retention {
	return &Retention{committer: d.committer, keep: keep, pause: sleep}
}

// sleep waits for t or until ctx ends, and returns ctx.Err().
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

// readRemoved reads the removal part and decodes the copy of the newest removal event in it.
func readRemoved(ctx context.Context, b backend.Backend) (*audit.Removed, backend.Removal, int64, error) {
	e := &audit.Removed{}
	removal, version, err := backend.ReadRemoval(ctx, b)
	if err == nil && removal.Event != nil {
		if err = json.Unmarshal(removal.Event, e); err != nil {
			err = fmt.Errorf("reading which old records were removed: %w", err)
		}
	}
	return e, removal, version, err
}
