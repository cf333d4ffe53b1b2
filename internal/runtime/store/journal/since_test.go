package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// TestRecordQueries checks that queries find records in every kind of segment (converted from an
// older schema, sealed, renamed, and the log itself), whatever the clocks of the processes show.
func TestRecordQueries(t *testing.T) {
	t.Parallel()
	path := place(t)
	large(t, path, 50)
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(5, 13))
	o := Options{Path: path, segment: 2500}
	b := []*Backend{open(t, o), open(t, o)}
	want := linked(t, b[0])
	if len(want) != 53 {
		t.Fatal(len(want))
	}
	names := ""
	for n := 0; n < 200 || !strings.Contains(names, fullSuffix); n++ { // continue if a fold has just sealed all segments
		m := at.Add(time.Duration(n) * time.Second) // one time in five is early; time 130 is an hour ahead, so the later ones seem late
		if r.IntN(5) == 0 {
			m = m.Add(-time.Duration(r.IntN(60)) * time.Second)
		}
		if n == 130 {
			m = m.Add(time.Hour)
		}
		e := backend.Event{Time: m, Session: []string{"", "s", "t"}[n%3], Object: fmt.Appendf(nil, `{"n":%d}`, n)}
		does(t, b[r.IntN(2)], &backend.Op{Events: []backend.Event{e}})
		if n == 100 {
			if err := b[0].fold(); err != nil {
				t.Fatal(err)
			}
		}
		want = linked(t, b[0])
		names = strings.Join(files(t, path), " ")
	}
	if strings.Count(names, segmentSuffix) < 10 {
		t.Error(names) // the test needs sealed and unsealed segments
	}
	for round := range 2 {
		for n := range 400 {
			q := backend.Query{Since: at.Add(time.Duration(10*n-10) * time.Second), Last: n%2 == 0, Limit: n % 3 * 7}
			if n%5 == 0 {
				q.Since = time.Time{}
			}
			if n%4 == 1 {
				of := want[r.IntN(len(want))]
				q.Writer, q.After = of.Writer, of.Seq
			}
			if n%7 == 2 {
				q.Session = "s"
			}
			searched(t, b[n%2], q, want)
		}
		if err := b[round].fold(); err != nil { // seals the remaining segments
			t.Fatal(err)
		}
	}
}

// searched checks that the query returns exactly the records in all that satisfy it.
func searched(t *testing.T, b *Backend, q backend.Query, all []backend.Record) {
	t.Helper()
	want := slices.DeleteFunc(slices.Clone(all), func(r backend.Record) bool {
		return r.Time.Before(q.Since) || q.Writer != "" && (r.Writer != q.Writer || r.Seq <= q.After) ||
			q.Session != "" && r.Session != "" && r.Session != q.Session
	})
	if q.Limit > 0 && q.Limit < len(want) {
		if q.Last {
			want = want[len(want)-q.Limit:]
		} else {
			want = want[:q.Limit]
		}
	}
	var got []backend.Record
	for r, err := range b.Records(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if !slices.EqualFunc(got, want, func(a, b backend.Record) bool { return a.Writer == b.Writer && a.Seq == b.Seq && a.Hash == b.Hash }) {
		t.Fatalf("%+v: %d records, want %d", q, len(got), len(want))
	}
}

// TestRemovedRecords checks that a segment is deleted along with its last record, and rewritten
// when half of its records have been removed. The remaining records must stay the same, also for
// other processes and after a restart.
func TestRemovedRecords(outer *testing.T) {
	outer.Parallel()
	t := &trial{T: outer, path: place(outer)}
	o := Options{Path: t.path, segment: 2500}
	a, b := open(outer, o), open(outer, o)
	for n := range 40 {
		does(outer, []*Backend{a, b}[n%2], &backend.Op{Events: []backend.Event{{Time: time.Unix(int64(n), 0), Object: filled(400)}}})
	}
	t.must(errors.Join(a.fold(), b.fold())) // fold both, because a does not know the last step, and b would seal its segment later
	before := linked(outer, a)
	names := [2]string{a.Writer(), b.Writer()}
	count := func() (n int, size int64) {
		for _, name := range files(outer, t.path) {
			if info, err := os.Stat(name); err == nil && strings.HasPrefix(name, t.path+segmentSuffix) {
				n++
				size += info.Size()
			}
		}
		return n, size
	}
	left := func(of int, seq uint64) {
		t.Helper()
		var got []uint64
		for r, err := range b.Records(t.Context(), backend.Query{Writer: names[of]}) {
			t.must(err)
			i := slices.IndexFunc(before, func(o backend.Record) bool { return o.Writer == r.Writer && o.Seq == r.Seq })
			if i < 0 || before[i].Hash != r.Hash || string(before[i].Object) != string(r.Object) || !before[i].Time.Equal(r.Time) {
				t.Errorf("record %d of %s is another", r.Seq, r.Writer)
			}
			got = append(got, r.Seq)
		}
		if len(got) != int(20-seq) || got[0] != seq+1 || got[len(got)-1] != 20 {
			t.Errorf("records %v of process %d are left, want those after %d", got, of, seq)
		}
	}
	remove := func(of int, through uint64, most, want int) {
		t.Helper()
		if n, err := b.RemoveRecords(t.Context(), names[of], through, most); n != want || err != nil {
			t.Errorf("%d are removed, want %d: %v", n, want, err)
		}
	}
	n, size := count()
	remove(0, 15, 5, 5)
	remove(0, 15, 50, 10)
	left(0, 15)
	left(1, 0)
	if m, less := count(); m != n || less > size*3/4 || less < size*1/3 {
		t.Errorf("%d files with %d bytes of %d with %d are left", m, less, n, size)
	}
	remove(1, 15, 50, 15)
	left(0, 15)
	left(1, 15)
	if m, less := count(); m > n/3+1 || less > size/3 {
		t.Errorf("%d files with %d bytes of %d with %d are left", m, less, n, size)
	}
	t.must(errors.Join(a.Close(), b.Close()))
	b = open(outer, o)
	left(0, 15)
	left(1, 15)
	remove(0, 50, 50, 5) // removes the whole chain
	if heads, err := b.Heads(t.Context()); err != nil || len(heads) != 1 || heads[0].Seq != 20 {
		t.Error(heads, err)
	}
	t.must(b.Close())
	tidy(outer, t.path)
}
