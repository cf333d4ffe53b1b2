package sqlite

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// TestSince: the records since a time are found whatever the clocks of their processes were,
// also those of before the second schema.
func TestSince(t *testing.T) {
	path := place(t)
	unpack(t, 1, path)
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(5, 13))
	moment := func(n int) time.Time { // one in five is late, or from then on all are, by an hour that one was ahead
		m := at.Add(time.Duration(n) * time.Second)
		if r.IntN(5) == 0 {
			m = m.Add(-time.Duration(r.IntN(60)) * time.Second)
		}
		if n == 130 {
			m = m.Add(time.Hour)
		}
		return m
	}
	l, err := usual.dial(path, writing)
	if err != nil {
		t.Fatal(err)
	}
	times := []time.Time{at, at, at}
	for n := 1; n <= 50; n++ {
		m := moment(n)
		times = append(times, m)
		_, err := l.exec("INSERT INTO record (writer, seq, hash, time, session, object) VALUES (1, ?, zeroblob(32), ?, '', '{}')", 3+n, m.UnixMicro())
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	b := []*Backend{open(t, Options{Path: path}), open(t, Options{Path: path})}
	for n := 51; n <= 200; n++ {
		m := moment(n)
		times = append(times, m)
		op := &backend.Op{Events: []backend.Event{{Time: m, Object: []byte("{}")}}}
		if err := errors.Join(b[r.IntN(2)].Commit(t.Context(), []*backend.Op{op}), op.Err); err != nil {
			t.Fatal(err)
		}
	}
	if first, err := b[1].Misplaced(t.Context(), time.Time{}); first != nil || err != nil {
		t.Errorf("%+v, %v", first, err)
	}
	for n := range 400 {
		since := at.Add(time.Duration(10*n-10) * time.Second)
		q := backend.Query{Since: since, Last: n%2 == 0, Limit: n % 3 * 7}
		want := slices.DeleteFunc(slices.Clone(times), func(m time.Time) bool { return m.Before(since) })
		if all := want; q.Limit > 0 {
			less := min(len(want), q.Limit)
			if want = want[:less:less]; q.Last {
				want = all[len(all)-less:]
			}
		}
		got := make([]time.Time, 0, len(want))
		for r, err := range b[0].Records(t.Context(), q) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r.Time)
		}
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			x, _ := json.Marshal(got)
			y, _ := json.Marshal(want)
			t.Fatalf("since %v: %s, want %s", since, x, y)
		}
	}
}
