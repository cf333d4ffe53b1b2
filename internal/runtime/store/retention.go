package store

import (
	"context"
	"time"
)

const (
	removalBatch = 50 // maximum number of records removed per transaction

	minPause      = 20 * time.Millisecond // shortest pause after a transaction
	surveyPage    = 50                    // number of records read at a time to determine which records can be removed
	surveyPause   = 3 * time.Millisecond  // pause after each of these reads
	firstRound    = 10 * time.Second      // delay before the first round; short, because the process might end soon
	retryDelay    = time.Minute           // delay after a failed round
	maxInterval   = 6 * time.Hour         // longest time between two rounds
	roundsPerKeep = 24                    // number of rounds per retention period
)

// Retention removes old records from a ledger's database, in rounds. Only one process performs each
// round. Some old records are kept, such as the decision on an open call; see [survey].
//
// A round first commits a removal event, which contains the last record to remove from each chain.
// It then removes the records in small transactions. If the process ends before all of them are
// removed, the next round removes the rest.
type Retention struct {
	*committer
	keep  time.Duration
	pause func(ctx context.Context, t time.Duration) error // waits between transactions, to give calls priority
}

// NewRetention returns a Retention that removes records once they are older than the given period.
func NewRetention(d *Durable, keep time.Duration) *Retention {
	return &Retention{committer: d.committer, keep: keep, pause: sleep}
}

// sleep waits until t has passed or ctx is done. If ctx is done first, it returns ctx.Err().
func sleep(ctx context.Context, t time.Duration) error {
	select {
	case <-time.After(t):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
