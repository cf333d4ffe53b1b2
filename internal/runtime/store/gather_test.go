package store_test

import (
	"context"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// slow is a database with slow commits.
type slow struct {
	backend.Backend
	took  time.Duration
	stale int // number of commits to refuse

	mu      sync.Mutex
	batches []int           // number of steps in each commit
	begun   []time.Duration // start time of each commit
	start   time.Time
}

func (s *slow) Writer() string { return "w" }

func (s *slow) Versions(_ context.Context, ids ...backend.PartID) ([]int64, error) {
	return make([]int64, len(ids)), nil
}

func (s *slow) List(context.Context, backend.Scope, string) iter.Seq2[backend.Part, error] {
	return func(func(backend.Part, error) bool) {}
}

func (s *slow) Commit(_ context.Context, ops []*backend.Op) error {
	s.mu.Lock()
	s.batches, s.begun = append(s.batches, len(ops)), append(s.begun, time.Since(s.start))
	stale := s.stale > 0
	s.stale--
	s.mu.Unlock()
	time.Sleep(s.took) //nolint:forbidigo // the clock of synctest
	if stale {
		for _, op := range ops {
			op.Err = backend.ErrStale
		}
	}
	return nil
}

// slowly returns a ledger in a database with commits of the given duration, and the database.
func slowly(t *testing.T, took time.Duration) (*store.Durable, *slow) {
	t.Helper()
	s := &slow{took: took}
	d := durable(t, s, policyOf(t), nil)
	s.batches, s.begun, s.start = nil, nil, time.Now()
	return d, s
}

// steps makes steps sequentially, each after a pause.
func steps(t *testing.T, d *store.Durable, after ...time.Duration) {
	for _, pause := range after {
		time.Sleep(pause) //nolint:forbidigo // the clock of synctest
		for {
			c, err := d.Append(t.Context(), audit.Outcome{Event: "outcome"})
			if err == nil {
				err = c.Wait(t.Context())
			}
			if err == nil {
				break
			}
			if err != admission.ErrStale { //nolint:errorlint // this error is never wrapped
				t.Error(err)
				return
			}
		}
	}
}

// TestCommitWaitsForSteps: a lone client never waits. If two clients alternate, each client's commit
// waits for the other client's next step, but at most for half the duration of a commit, and neither
// after a fast commit nor while another process changes the same parts.
func TestCommitWaitsForSteps(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		took    time.Duration
		stale   int
		clients [][]time.Duration // pauses before the steps of each client
		batches []int
		begun   []time.Duration
	}{
		{"alone", 4 * ms, 0, [][]time.Duration{{0, 0, ms, 0}}, []int{1, 1, 1, 1}, []time.Duration{0, 4 * ms, 9 * ms, 13 * ms}},
		{"alone and stale", 4 * ms, 2, [][]time.Duration{{0}}, []int{1, 1, 1}, []time.Duration{0, 4 * ms, 8 * ms}},
		{"both", 4 * ms, 0, [][]time.Duration{{0, ms}, {ms}}, []int{1, 2}, []time.Duration{0, 5 * ms}},
		{"not for long", 3 * ms, 0, [][]time.Duration{{0, 9 * ms}, {ms}}, []int{1, 1, 1}, []time.Duration{0, 4500 * time.Microsecond, 12 * ms}},
		{"not for longer", 40 * ms, 0, [][]time.Duration{{0, 90 * ms}, {ms}}, []int{1, 1, 1}, []time.Duration{0, 42 * ms, 130 * ms}},
		{"quick", ms / 4, 0, [][]time.Duration{{0, ms / 16}, {ms / 8}}, []int{1, 1, 1}, []time.Duration{0, ms / 4, ms / 2}},
		{"rivals", 4 * ms, 1, [][]time.Duration{{0, ms}, {5 * ms}}, []int{1, 1, 1, 1}, []time.Duration{0, 4 * ms, 8 * ms, 12 * ms}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, s := slowly(t, c.took)
				s.stale = c.stale
				var wait sync.WaitGroup
				for _, pauses := range c.clients {
					wait.Go(func() { steps(t, d, pauses...) })
				}
				wait.Wait()
				if !slices.Equal(s.batches, c.batches) || !slices.Equal(s.begun, c.begun) {
					t.Errorf("commits of %d steps at %v, want %d at %v", s.batches, s.begun, c.batches, c.begun)
				}
			})
		})
	}
}
