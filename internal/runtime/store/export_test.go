package store

import (
	"context"
	"time"
)

// SetRoom sets the number of principals above which some are evicted.
func (d *Durable) SetRoom(n int) { d.principalLimit = n }

// Kept reports whether the part of a principal is in the cache.
func (d *Durable) Kept(principal string) bool { return d.principals[principal] != nil }

// RetainOnce runs one round of a [Retention] if one is due, and calls between after each
// transaction.
func RetainOnce(ctx context.Context, d *Durable, keep time.Duration, between func() error) error {
	r := NewRetention(d, keep)
	r.pause = func(_ context.Context, t time.Duration) error {
		if t == surveyPause {
			return nil
		}
		return between()
	}
	_, err := r.runRound(ctx)
	return err
}
