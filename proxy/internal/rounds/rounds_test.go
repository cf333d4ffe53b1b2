package rounds

import (
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
)

// keeper returns the keeper of one process.
func keeper(t *testing.T, path string, now func() time.Time) *Keeper {
	t.Helper()
	b, err := journal.Open(t.Context(), journal.Options{Path: path, Sync: journal.Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	p, err := gate.NewPolicy(nil, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := store.NewDurable(t.Context(), store.DurableOptions{Backend: b, Policy: p})
	return New(d, nil, lifetime.New(now, slog.New(slog.DiscardHandler)))
}

// TestRoundsAreSharedFairly checks that each principal gets at most a fair share, that rounds taken
// by other processes make room after a sweep, and that a round belongs to one call, session and
// principal.
func TestRoundsAreSharedFairly(t *testing.T) {
	now := time.Now()
	path, clock := filepath.Join(t.TempDir(), "state.db"), func() time.Time { return now }
	k, other := keeper(t, path, clock), keeper(t, path, clock)
	k.limit = 20
	ann := admission.Key{Session: "s", Principal: "ann"}
	keep := func(id, principal string) error {
		var ticket admission.Ticket
		if err := json.Unmarshal([]byte(`{"session":"s","principal":"`+principal+`","number":1,"tool":"x"}`), &ticket); err != nil {
			t.Fatal(err)
		}
		return k.Keep(id, nil, true, Round{Ticket: &ticket, Expires: now.Add(time.Hour)})
	}
	n := 0
	for n < 30 && keep(strconv.Itoa(n), "ann") == nil {
		n++
	}
	if err := keep("more", "ann"); n != 10 || !errors.Is(err, ErrFull) {
		t.Errorf("%d are kept, %v", n, err)
	}
	if err := keep("bob's", "bob"); err != nil {
		t.Error(err)
	}
	for i := range 5 { // another process continues these calls
		if r, err := other.Take(ann, strconv.Itoa(i), nil); err != nil || r == nil || r.Ticket.Key != ann || r.Ticket.Number != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if err := keep("more", "ann"); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	now = now.Add(sweepEvery)
	k.EndOld(t.Context())
	if err := keep("more", "ann"); err != nil {
		t.Error(err)
	}
	k.room.Add("", 0, func(_, all int) bool {
		if all != 7 {
			t.Errorf("%d are kept", all)
		}
		return false
	})
	for id, subject := range map[string]string{"more": "another call", "bob's": "", "nobody's": ""} {
		if r, err := other.Take(ann, id, []byte(subject)); r != nil || err != nil {
			t.Errorf("%s: %+v, %v", id, r, err)
		}
	}
}
