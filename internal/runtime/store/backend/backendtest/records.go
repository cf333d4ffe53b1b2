package backendtest

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

func testRecords(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	for i := range 8 {
		by := a
		if i >= 4 && i < 6 {
			by = b
		}
		commit(t, by, nil, &backend.Op{Events: []backend.Event{event(i)}})
	}
	commit(t, a, nil, &backend.Op{Events: []backend.Event{event(sessionlessEvent)}})
	for _, c := range []struct {
		query backend.Query
		want  string
	}{
		{backend.Query{}, "012345678"},
		{backend.Query{Limit: 3}, "012"},
		{backend.Query{Limit: 3, Last: true}, "678"},
		{backend.Query{Last: true}, "012345678"},
		{backend.Query{Limit: 30, Last: true}, "012345678"},
		{backend.Query{Since: start.Add(5 * time.Second)}, "5678"},
		{backend.Query{Session: "s1"}, "13578"},
		{backend.Query{Session: "s1", Limit: 2, Last: true}, "78"},
		{backend.Query{Session: "none"}, "8"},
		{backend.Query{Writer: a.Writer()}, "0123678"},
		{backend.Query{Writer: a.Writer(), After: 3}, "3678"},
		{backend.Query{Writer: b.Writer(), After: 1}, "5"},
		{backend.Query{Writer: a.Writer(), After: 1, Limit: 2}, "12"},
		{backend.Query{Writer: a.Writer(), Session: "s0", Since: start.Add(time.Second), Limit: 2, Last: true}, "68"},
		{backend.Query{Writer: "none"}, ""},
	} {
		got := ""
		for _, r := range all(t, b.Records(t.Context(), c.query)) {
			n := strings.TrimSuffix(strings.TrimPrefix(string(r.Object), `{"n":`), "}")
			if i, _ := strconv.Atoi(n); !r.Time.Equal(event(i).Time) || r.Session != event(i).Session {
				t.Errorf("record %s is of %s at %v", n, r.Session, r.Time)
			}
			got += n
		}
		if got != c.want {
			t.Errorf("%+v: %s, want %s", c.query, got, c.want)
		}
	}
	testPages(t, a)
}

// testPages verifies that a query can return more records than fit on one page.
func testPages(t *testing.T, b backend.Backend) {
	op := &backend.Op{Time: start}
	for range 2500 {
		op.Events = append(op.Events, backend.Event{Time: start, Session: "many", Object: []byte(`{}`)})
	}
	commit(t, b, nil, op)
	for _, q := range []backend.Query{{Session: "many"}, {Session: "many", Limit: 2100}, {Session: "many", Limit: 2100, Last: true}} {
		want := 2501 // including the record without a session
		if q.Limit > 0 {
			want = q.Limit
		}
		if got := len(all(t, b.Records(t.Context(), q))); got != want {
			t.Errorf("%+v: %d records, want %d", q, got, want)
		}
	}
	for _, err := range b.Records(t.Context(), backend.Query{}) {
		if err != nil {
			t.Error(err)
		}
		break
	}
}

// testConcurrent verifies that no increment is lost if several processes increment the same number at
// the same time.
func testConcurrent(t *testing.T, open func() backend.Backend) {
	const processes, steps = 3, 40
	id := backend.PartID{Scope: backend.Global}
	all := []backend.Backend{open()}
	for len(all) < processes {
		all = append(all, open())
	}
	var wait sync.WaitGroup
	errs := make(chan error, processes)
	for _, b := range all {
		wait.Go(func() { errs <- count(t, b, id, steps) })
	}
	wait.Wait()
	for range all {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if p := load(t, all[0], id); string(p.Data) != strconv.Itoa(processes*steps) || p.Version != processes*steps {
		t.Errorf("%s at version %d after %d steps", p.Data, p.Version, processes*steps)
	}
	for _, b := range all {
		if n := verifyChain(t, all[0], b.Writer()); n != steps {
			t.Errorf("%d records of %d steps", n, steps)
		}
	}
}

// count increments the number stored in a [backend.Part] the given number of times. It commits each
// increment in a batch with another op.
func count(t *testing.T, b backend.Backend, id backend.PartID, steps int) error {
	for done := 0; done < steps; {
		parts, err := b.Load(t.Context(), id)
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(parts[0].Data)) // the number is 0 if the part has no data
		op := write(id, parts[0].Version, strconv.Itoa(n+1))
		op.Events = []backend.Event{event(n % 7)}
		own := write(session(b.Writer()+strconv.Itoa(done)+"-"+strconv.Itoa(n)), 0, "{}")
		if err := b.Commit(t.Context(), []*backend.Op{op, own}); err != nil {
			return err
		}
		switch {
		case op.Err == nil:
			done++
		case !errors.Is(op.Err, backend.ErrStale):
			return op.Err
		}
	}
	return nil
}

// testRemove verifies that the oldest records of a chain can be removed, a few at a time, and that this
// does not affect the remaining and later records.
func testRemove(t *testing.T, open func() backend.Backend) {
	a, b := open(), open()
	for i := range 6 {
		commit(t, a, nil, &backend.Op{Events: []backend.Event{event(i)}})
	}
	commit(t, b, nil, &backend.Op{Events: []backend.Event{event(6)}})
	gone := func(writer string, through uint64, most, want int) {
		t.Helper()
		if n, err := b.RemoveRecords(t.Context(), writer, through, most); n != want || err != nil {
			t.Errorf("%d records are removed, %v, want %d", n, err, want)
		}
	}
	left := func(want ...uint64) {
		t.Helper()
		var got []uint64
		for _, r := range all(t, b.Records(t.Context(), backend.Query{Writer: a.Writer()})) {
			got = append(got, r.Seq)
		}
		if !slices.Equal(got, want) {
			t.Errorf("records %v are left, want %v", got, want)
		}
	}
	gone(a.Writer(), 5, 2, 2)
	left(3, 4, 5, 6)
	gone(a.Writer(), 5, 10, 3)
	gone(a.Writer(), 5, 10, 0)
	gone("nobody", 5, 10, 0)
	left(6)
	commit(t, a, nil, &backend.Op{Events: []backend.Event{event(7)}})
	left(6, 7)
	gone(b.Writer(), 1, 10, 1) // this removes all records of the chain
	if heads, err := a.Heads(t.Context()); err != nil || len(heads) != 1 || heads[0].Seq != 7 {
		t.Errorf("%v, %v", heads, err)
	}
}
