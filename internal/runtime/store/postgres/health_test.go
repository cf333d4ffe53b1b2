package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAvailable: while the database is unavailable, a caller waits briefly for a probe that has
// begun or is about to begin, and not at all if the database timed out.
func TestAvailable(t *testing.T) {
	refused := errors.New("connection refused")
	for _, c := range []struct {
		name  string
		found error         // by the commit before
		ends  time.Duration // duration of the trial; 0 if it does not end
		err   error
		wait  time.Duration
	}{
		{"there", nil, 0, nil, 0},
		{"away", refused, 0, refused, probeWait},
		{"back", refused, 100 * time.Millisecond, nil, 100 * time.Millisecond},
		{"silent", context.DeadlineExceeded, 0, context.DeadlineExceeded, 0},
		{"silent, and about to be back", context.DeadlineExceeded, 100 * time.Millisecond, context.DeadlineExceeded, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &DB{health: newHealth()}
				d.health.set(c.found)
				var wait sync.WaitGroup
				defer wait.Wait()
				if c.ends > 0 {
					wait.Go(func() {
						<-d.health.requests
						d.health.beginProbe()
						time.Sleep(c.ends) //nolint:forbidigo // the clock of synctest
						d.health.set(nil)
						d.health.endProbe()
					})
				}
				began := time.Now()
				if err := d.checkAvailable(t.Context()); !errors.Is(err, c.err) {
					t.Errorf("%v, want %v", err, c.err)
				}
				if waited := time.Since(began); waited != c.wait {
					t.Errorf("it waited for %v, want %v", waited, c.wait)
				}
				if c.found != nil && c.ends == 0 && len(d.health.requests) == 0 {
					t.Error("no trial is wanted")
				}
			})
		})
	}
}

// TestCommitWaitsForWriter: a commit that waits for the writer while the database becomes unavailable has sent
// nothing. It is not refused if a probe finds the database.
func TestCommitWaitsForWriter(t *testing.T) {
	for _, found := range []error{nil, errors.New("connection refused")} {
		synctest.Test(t, func(t *testing.T) {
			d := &DB{health: newHealth(), writer: &writer{sem: make(chan struct{}, 1)}, timeout: time.Second}
			if err := d.writer.lock(t.Context()); err != nil {
				t.Fatal(err)
			}
			var wait sync.WaitGroup
			defer wait.Wait()
			wait.Go(func() {
				_, cancel, err := d.lockWriter(t.Context(), "committing to")
				if !errors.Is(err, found) {
					t.Errorf("%v, want %v", err, found)
				}
				if err == nil {
					cancel()
					d.writer.unlock()
				}
			})
			synctest.Wait() // it waits for the writer
			d.health.set(errors.New("terminated"))
			d.writer.unlock()
			<-d.health.requests
			d.health.beginProbe()
			d.health.set(found)
			d.health.endProbe()
		})
	}
}
