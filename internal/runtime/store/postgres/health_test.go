package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAvailable: while the database is away, a caller waits shortly for a trial that has begun or is
// about to, and not at all where the database does not answer in time.
func TestAvailable(t *testing.T) {
	refused := errors.New("connection refused")
	for _, c := range []struct {
		name  string
		found error         // by the commit before
		ends  time.Duration // of the trial; 0: it does not end
		err   error
		wait  time.Duration
	}{
		{"there", nil, 0, nil, 0},
		{"away", refused, 0, refused, grace},
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
						<-d.health.wanted
						d.health.begin()
						time.Sleep(c.ends) //nolint:forbidigo // of synctest
						d.health.set(nil)
						d.health.end()
					})
				}
				began := time.Now()
				if err := d.available(t.Context()); !errors.Is(err, c.err) {
					t.Errorf("%v, want %v", err, c.err)
				}
				if waited := time.Since(began); waited != c.wait {
					t.Errorf("it waited for %v, want %v", waited, c.wait)
				}
				if c.found != nil && c.ends == 0 && len(d.health.wanted) == 0 {
					t.Error("no trial is wanted")
				}
			})
		})
	}
}

// TestTurn: a commit that has waited for its turn while the database was found to be away has begun
// nothing. It is not refused if a trial finds the database.
func TestTurn(t *testing.T) {
	for _, found := range []error{nil, errors.New("connection refused")} {
		synctest.Test(t, func(t *testing.T) {
			d := &DB{health: newHealth(), writer: &writer{turn: make(chan struct{}, 1)}, timeout: time.Second}
			if err := d.writer.take(t.Context()); err != nil {
				t.Fatal(err)
			}
			var wait sync.WaitGroup
			defer wait.Wait()
			wait.Go(func() {
				_, cancel, err := d.turn(t.Context(), "committing to")
				if !errors.Is(err, found) {
					t.Errorf("%v, want %v", err, found)
				}
				if err == nil {
					cancel()
					d.writer.leave()
				}
			})
			synctest.Wait() // it waits for its turn
			d.health.set(errors.New("terminated"))
			d.writer.leave()
			<-d.health.wanted
			d.health.begin()
			d.health.set(found)
			d.health.end()
		})
	}
}
