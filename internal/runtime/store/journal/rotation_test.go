package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/soak"
)

// TestTwoDays simulates 48 hours of calls by a process that starts again every five hours and
// removes records older than six hours. It checks that the files grow neither in number nor in
// size, and that the rest of each chain is complete.
func TestTwoDays(t *testing.T) {
	t.Parallel()
	const keep = 6 * time.Hour
	every := 48 * time.Hour / time.Duration(soak.Count(96))
	path, start := place(t), time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	var b *Backend
	var begun time.Time // time when the process started
	most, size := 0, int64(0)
	for at := start; at.Before(start.Add(48 * time.Hour)); at = at.Add(every) {
		if at.Sub(begun) >= 5*time.Hour {
			if b != nil {
				_ = b.Close()
			}
			begun = at
			b = open(t, Options{Path: path, segment: 16 << 10})
		}
		work(t, b, at)
		gone := aged(t, b, at.Add(-keep))
		if err := b.fold(); err != nil {
			t.Fatal(err)
		}
		files, bytes := used(t, path)
		if at.Sub(start) < 2*keep {
			most, size = max(most, files), max(size, bytes)
			continue
		}
		if files > most+2 || bytes > size+64<<10 {
			t.Fatalf("after %v there are %d files with %d bytes, and there were %d with %d", at.Sub(start), files, bytes, most, size)
		}
		if gone == 0 {
			t.Fatalf("after %v nothing was old", at.Sub(start))
		}
	}
	if file, what, err := b.Damage(t.Context()); what != "" || err != nil {
		t.Error(file, what, err)
	}
	t.Logf("at most %d files with %d bytes", most, size)
}

// work makes calls at one simulated time. Each call creates a part and removes it again, each time
// with a record.
func work(t *testing.T, b *Backend, at time.Time) {
	t.Helper()
	var ops []*backend.Op
	for i := range 20 {
		id := backend.PartID{Scope: backend.Session, Name: fmt.Sprint(b.Writer(), at.Unix(), i)}
		record := backend.Event{Time: at, Session: id.Name, Object: fmt.Appendf(nil, `{"event":"decision","session":%q,"call":%d}`, id.Name, i)}
		ops = append(ops, &backend.Op{Reserve: true, Time: at, Writes: []backend.Write{{ID: id, Data: []byte(`{"v":1}`)}}, Events: []backend.Event{record}},
			&backend.Op{Time: at, Writes: []backend.Write{{ID: id, Version: 1}}, Events: []backend.Event{record}})
	}
	if err := commit(t.Context(), b, ops...); err != nil {
		t.Fatal(err)
	}
}

// aged removes the records from before the given time, and checks that the chains have no gaps.
func aged(t *testing.T, b *Backend, before time.Time) (gone int) {
	t.Helper()
	through, last := map[string]uint64{}, map[string]audit.Place{}
	for r, err := range b.Records(t.Context(), backend.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := last[r.Writer]; ok && (r.Seq != p.Seq+1 || r.Hash != audit.Link(p.Hash, r.Seq, r.Object)) {
			t.Fatalf("record %d of %s does not follow record %d", r.Seq, r.Writer, p.Seq)
		}
		if last[r.Writer] = (audit.Place{Seq: r.Seq, Hash: r.Hash}); r.Time.Before(before) {
			through[r.Writer] = r.Seq
		}
	}
	for writer, seq := range through {
		n, err := b.RemoveRecords(t.Context(), writer, seq, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		gone += n
	}
	return gone
}

// used returns the number and the total size of the log files.
func used(t *testing.T, path string) (files int, bytes int64) {
	t.Helper()
	all, err := filepath.Glob(path + "-log*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if info, err := os.Stat(name); err == nil {
			files++
			bytes += info.Size()
		}
	}
	return files, bytes
}
