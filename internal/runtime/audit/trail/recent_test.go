package trail_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// consecutive fails unless the records begin with the given number and have no gap.
func consecutive(t *testing.T, what string, got []trail.Record, from, to uint64) {
	t.Helper()
	if len(got) != int(to-from+1) {
		t.Errorf("%s: %d records, want %d to %d", what, len(got), from, to)
		return
	}
	for i, r := range got {
		if r.Seq != from+uint64(i) {
			t.Errorf("%s: record %d at %d, want those from %d", what, r.Seq, i, from)
			return
		}
	}
}

// TestRecent checks that the newest records are read from the end, across rotated files and pending
// lines.
func TestRecent(t *testing.T) {
	path, files := written(t, 300, audit.Rotation{Size: 10_000})
	if len(files) < 4 {
		t.Fatalf("%d files", len(files))
	}
	all, err := trail.Recent(t.Context(), trail.File(path), 1000, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	last := all[len(all)-1].Seq
	consecutive(t, "all", all, 1, last)
	for _, n := range []int{0, 1, 2, 50, 299} {
		got, err := trail.Recent(t.Context(), trail.File(path), n, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		consecutive(t, fmt.Sprint(n, " records"), got, last-uint64(n)+1, last)
	}
	for _, most := range []int{0, 100, 5_000, 15_000} {
		got, err := trail.Recent(t.Context(), trail.File(path), 1000, most)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, r := range got {
			size += len(r.Event)
		}
		if size > most || most > 1000 && size < most/2 {
			t.Errorf("at most %d bytes: %d", most, size)
		}
		consecutive(t, fmt.Sprint(most, " bytes"), got, last-uint64(len(got))+1, last)
	}
	got, err := trail.Recent(t.Context(), trail.File(killed(t, 9, 4, 6)), 5, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	consecutive(t, "on their way", got, 5, 9)
}

// TestRecentOfWhatIsNoLog checks that lines that are not records are skipped.
func TestRecentOfWhatIsNoLog(t *testing.T) {
	path, files := written(t, 3, audit.Rotation{})
	put(t, path, append([]byte("hello\n\n{}\n"), append(files[path], `{"seq":4,"event"`...)...))
	got, err := trail.Recent(t.Context(), trail.File(path), 10, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	consecutive(t, "sound ones", got, 1, 3)
	if _, err := trail.Recent(t.Context(), trail.File(path+"x"), 10, 1<<20); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestRecentOfDatabase checks that the newest records of all writers are read, and few others.
func TestRecentOfDatabase(t *testing.T) {
	db := &rows{}
	for n := range 500 {
		db.all = append(db.all, backend.Record{Event: backend.Event{Time: time.Unix(int64(n), 0), Object: []byte(`{"event":"outcome"}`)}, Writer: "a", Seq: uint64(n) + 1})
	}
	for _, n := range []int{1, 10, 499, 500, 1000} {
		got, err := trail.Recent(t.Context(), trail.Database{Backend: db}, n, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		consecutive(t, fmt.Sprint(n), got, 500-uint64(min(n, 500))+1, 500)
	}
}

// TestOthers checks that each new record of other processes is read once.
func TestOthers(t *testing.T) {
	db := &rows{own: "me"}
	for range 3 {
		db.add("a", `{"event":"outcome"}`)
		db.add("me", `{"event":"outcome"}`)
	}
	others := trail.Database{Backend: db}.Others(t.Context())
	read := func(most int, want string) {
		t.Helper()
		records, err := others.Read(t.Context(), most)
		got := ""
		for _, r := range records {
			got += fmt.Sprint(r.Writer, r.Seq, " ")
		}
		if err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	read(10, "")
	for range 3 {
		db.add("a", `{"event":"outcome"}`)
		db.add("me", `{"event":"outcome"}`)
		db.add("b", `{"event":"outcome"}`)
	}
	read(2, "a4 a5 b1 b2 ")
	read(2, "a6 b3 ")
	read(2, "")
	db.away = errors.New("it is away")
	if _, err := others.Read(t.Context(), 2); !errors.Is(err, db.away) {
		t.Error(err)
	}
	late := trail.Database{Backend: db}.Others(t.Context())
	db.away, others = nil, late
	read(2, "")
	db.add("b", `{"event":"outcome"}`)
	read(2, "b4 ")
}
