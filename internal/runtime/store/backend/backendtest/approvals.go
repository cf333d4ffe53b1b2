package backendtest

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// expectOccupied checks that PutApproval refuses an approval with [backend.ErrStale].
func expectOccupied(t *testing.T, b backend.Backend, a backend.Approval) {
	t.Helper()
	if v, err := b.PutApproval(t.Context(), a); !errors.Is(err, backend.ErrStale) {
		t.Fatalf("version %d, %v, want %v", v, err, backend.ErrStale)
	}
}

// approvalIDs returns the concatenated IDs of the approvals that b.Approvals selects.
func approvalIDs(t *testing.T, b backend.Backend, id, key string, since time.Time) (ids string) {
	t.Helper()
	list, err := b.Approvals(t.Context(), id, key, since)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		ids += a.ID
	}
	return ids
}

func testApprovals(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	first := approval("1", "key\x01'", backend.Pending)
	put(t, a, first)
	expectOccupied(t, b, first)
	expectOccupied(t, b, approval("2", first.Key, backend.Pending))
	expectOccupied(t, b, approval("2", first.Key, backend.Approved))
	late := approval("2", first.Key, backend.Pending) // another request for the same call, made when the first approval expires; it is refused, because an expired approval stays live until its state changes
	late.Created, late.Expires = late.Expires, late.Expires.Add(time.Hour)
	expectOccupied(t, b, late)
	list, err := b.Approvals(t.Context(), "1", "", time.Time{})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if got := list[0]; got.Key != first.Key || got.State != first.State || got.Session != "s" || got.Version != 1 ||
		!got.Created.Equal(first.Created) || !got.Expires.Equal(first.Expires) || !bytes.Equal(got.Data, first.Data) {
		t.Errorf("%+v was read, %+v written", got, first)
	}
	first.Version, first.State = 1, backend.Approved
	put(t, b, first)
	expectOccupied(t, a, first)
	first.Version, first.State = 2, "denied"
	put(t, a, first)
	second := approval("2", first.Key, backend.Pending)
	second.Created = start.Add(time.Second)
	put(t, b, second)
	put(t, b, approval("3", "another", backend.Pending))
	first.Version, first.State = 3, backend.Pending
	expectOccupied(t, a, first) // another live approval has the same key
	for _, c := range []struct{ id, key, want string }{{"", first.Key, "12"}, {"", "none", ""}, {"none", "", ""}, {"2", "", "2"}, {"", "", "132"}} {
		if got := approvalIDs(t, a, c.id, c.key, time.Time{}); got != c.want {
			t.Errorf("id %q, key %q: %q, want %q", c.id, c.key, got, c.want)
		}
	}
}

func testUses(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	use := func(id string, at time.Time) *backend.Op { return &backend.Op{Reserve: true, Time: at, Uses: id} }
	put(t, a, approval("pending", "1", backend.Pending))
	put(t, a, approval("late", "2", backend.Approved))
	put(t, a, approval("good", "3", backend.Approved))
	commit(t, b, backend.ErrUsed, use("pending", start), use("none", start), use("late", start.Add(2*time.Hour)))
	ops := []*backend.Op{use("good", start), use("good", start)}
	if err := b.Commit(t.Context(), ops); err != nil || ops[0].Err != nil || !errors.Is(ops[1].Err, backend.ErrUsed) {
		t.Fatal(err, ops[0].Err, ops[1].Err)
	}
	commit(t, a, backend.ErrUsed, use("good", start))
	list, err := a.Approvals(t.Context(), "good", "", time.Time{})
	if err != nil || len(list) != 1 || list[0].State != backend.Consumed || list[0].Version != 2 {
		t.Fatal(list, err)
	}
	put(t, a, approval("next", "3", backend.Pending)) // the key is free again, because the approval that had it has been used up
}

func testDrop(t *testing.T, open func() backend.Backend) {
	b := open()
	put(t, b, approval("1", "1", backend.Pending))
	put(t, b, approval("2", "2", "denied"))
	future := time.Now().Add(24 * time.Hour)
	if got := approvalIDs(t, b, "", "", future); got != "1" {
		t.Errorf("live are %q", got)
	}
	if err := b.DropApprovals(t.Context(), start.Add(-100*time.Hour*24*365)); err != nil {
		t.Fatal(err)
	}
	if got := approvalIDs(t, b, "", "", time.Time{}); got != "12" {
		t.Errorf("%q are left too early", got)
	}
	if err := b.DropApprovals(t.Context(), future); err != nil {
		t.Fatal(err)
	}
	if got := approvalIDs(t, open(), "", "", time.Time{}); got != "1" {
		t.Errorf("%q are left", got)
	}
}

func testStops(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	reserve := func(s string) *backend.Op { return &backend.Op{Session: s, Reserve: true, Time: start} }
	set := func(on bool, session string) {
		t.Helper()
		err := a.SetStop(t.Context(), backend.Stop{Session: session, Actor: "me", Reason: "doubt", Time: start}, on, event(0))
		if err != nil {
			t.Fatal(err)
		}
	}
	commit(t, b, nil, reserve("s"))
	set(true, "s")
	set(true, "s")
	commit(t, a, backend.ErrStopped, reserve("s"))
	commit(t, b, backend.ErrStopped, reserve("s"))
	commit(t, b, nil, reserve("other"), &backend.Op{Session: "s", Events: []backend.Event{event(1)}})
	set(true, "")
	commit(t, b, backend.ErrStopped, reserve("s"), reserve("other"))
	list, err := b.Stops(t.Context())
	if err != nil || len(list) != 2 || list[0].Session != "" || list[0].Actor != "me" || list[0].Reason != "doubt" || !list[0].Time.Equal(start) {
		t.Fatal(list, err)
	}
	late := open() // the stop also applies to processes that start later
	commit(t, late, backend.ErrStopped, reserve("other"))
	set(false, "")
	commit(t, late, nil, reserve("other"))
	commit(t, b, backend.ErrStopped, reserve("s"))
	set(false, "s")
	commit(t, a, nil, reserve("s"))
	if n := verifyChain(t, a, a.Writer()); n != 5 {
		t.Errorf("%d records of 5 uses", n)
	}
}

// testClock verifies that an op that admits a call is refused if it is much older than the newest
// record. An op that admits no call is committed anyway.
func testClock(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	at := func(reserve bool, after time.Duration) *backend.Op {
		e := event(0)
		e.Time = start.Add(after)
		return &backend.Op{Reserve: reserve, Time: e.Time, Events: []backend.Event{e}}
	}
	commit(t, a, nil, at(true, 0))
	commit(t, b, backend.ErrClock, at(true, -time.Hour))
	commit(t, b, nil, at(true, -time.Second), at(true, time.Hour))
	commit(t, a, backend.ErrClock, at(true, time.Second))
	commit(t, a, nil, at(false, 2*time.Second)) // committed although the clock is behind, because the op admits no call
	commit(t, a, backend.ErrClock, at(true, 3*time.Second))
	commit(t, open(), backend.ErrClock, at(true, 3*time.Second))
	if err := a.SetStop(t.Context(), backend.Stop{Time: start}, false, event(1)); err != nil {
		t.Fatal(err)
	}
	commit(t, b, nil, at(true, time.Second)) // permitted: since the kill switch was used, the database ignores the times of earlier records
	commit(t, open(), nil, at(true, 2*time.Second))
	commit(t, b, nil, at(false, -time.Hour))
	commit(t, b, backend.ErrClock, at(true, -time.Hour))
	commit(t, a, nil, at(true, 2*time.Hour)) // this is now the newest record, so the next op is refused
	commit(t, open(), backend.ErrClock, at(true, time.Hour))
}

func testChanges(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	wake := b.Changes()
	for n, change := range []func() error{
		func() error { _, err := a.PutApproval(t.Context(), approval("1", "1", backend.Pending)); return err },
		func() error { return a.SetStop(t.Context(), backend.Stop{Time: start}, true) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		for seen := false; !seen; {
			<-wake // this receive blocks if no change is reported
			list, err := b.Approvals(t.Context(), "1", "", time.Time{})
			stops, more := b.Stops(t.Context())
			if err != nil || more != nil {
				t.Fatal(err, more)
			}
			seen = len(list)+len(stops) > n
		}
	}
}
