package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// asked counts the requests of a process to its database.
type asked struct {
	backend.Backend
	loads, commits, stale int
}

func (a *asked) Load(ctx context.Context, ids ...backend.PartID) ([]backend.Part, error) {
	a.loads++
	return a.Backend.Load(ctx, ids...)
}

func (a *asked) Commit(ctx context.Context, ops []*backend.Op) error {
	a.commits++
	err := a.Backend.Commit(ctx, ops)
	for _, op := range ops {
		if errors.Is(op.Err, backend.ErrStale) {
			a.stale++
		}
	}
	return err
}

// TestRoamingSessionIsReadFirst: if the calls of a session alternate between two processes, then
// after one stale decision each process reads the session before it decides. If the calls stay at
// the same process, it reads the session once more and then stops reading it.
func TestRoamingSessionIsReadFirst(t *testing.T) {
	p, path := policyOf(t, limit("x", 100, gate.ScopeSession)), place(t)
	k := admission.Key{Session: "s", Principal: "ann"}
	var all [2]asked
	var ledgers [2]admission.Ledger
	for i := range all {
		all[i].Backend = database(t, path)
		ledgers[i] = durable(t, &all[i], p, nil)
	}
	begin(t, ledgers[0], k)
	call := func(at int, loads, commits, stale int) {
		t.Helper()
		was := all[at]
		number, err := admit(t.Context(), ledgers[at], k, gate.Call{Tool: "x"})
		if err == nil {
			err = finish(t.Context(), ledgers[at], k, number, gate.Success)
		}
		if err != nil {
			t.Fatal(err)
		}
		if is := all[at]; is.loads-was.loads != loads || is.commits-was.commits != commits || is.stale-was.stale != stale {
			t.Errorf("a call took %d loads and %d commits, %d of them stale; want %d, %d and %d",
				is.loads-was.loads, is.commits-was.commits, is.stale-was.stale, loads, commits, stale)
		}
	}
	call(0, 1, 2, 0)
	call(1, 2, 2, 0) // the first load finds the session
	call(0, 1, 3, 1)
	call(1, 1, 3, 1)
	for range 3 {
		call(0, 1, 2, 0)
		call(1, 1, 2, 0)
	}
	call(1, 1, 2, 0)
	call(1, 0, 2, 0)
}
