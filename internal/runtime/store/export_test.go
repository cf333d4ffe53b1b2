package store

import (
	"context"
	"time"
)

// SetRoom sets the number of principals above which some are evicted.
func (d *Durable) SetRoom(n int) { d.principalLimit = n }

// Kept reports whether what a principal shares is in memory.
func (d *Durable) Kept(principal string) bool { return d.principals[principal] != nil }

// RetainOnce makes a round of a [Retention] if one is due. After each transaction between is called.
func RetainOnce(ctx context.Context, d *Durable, keep time.Duration, between func() error) error {
	r := NewRetention(d, keep)
	r.pause = func(_ context.Context, t time.Duration) error {
		if t == surveyPause {
			return nil
		}
		return between()
	}
	_, err := r.round(ctx)
	return err
}
