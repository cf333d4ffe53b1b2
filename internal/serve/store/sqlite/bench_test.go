package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// sample is a step of a session: a part of 300 bytes, a record of 420.
func sample(session string, version int64) *backend.Op {
	at := time.Now()
	return &backend.Op{Session: session, Reserve: true, Time: at,
		Writes: []backend.Write{{ID: backend.PartID{Scope: backend.Session, Name: session}, Version: version, Data: filled(300)}},
		Events: []backend.Event{{Time: at, Session: session, Object: filled(420)}},
	}
}

// filled is an object of some length.
func filled(n int) []byte {
	return append(append([]byte(`{"x":"`), bytes.Repeat([]byte{'x'}, n-8)...), `"}`...)
}

// BenchmarkCommit is of one step a transaction, and of several, on the disk of temporary
// files and in memory.
func BenchmarkCommit(b *testing.B) {
	for _, medium := range []string{"disk", "memory"} {
		for _, sync := range []string{Full, Normal} {
			for _, size := range []int{1, 16, 64} {
				b.Run(fmt.Sprintf("%s/%s/%d", medium, sync, size), func(b *testing.B) {
					dir := b.TempDir()
					if medium == "memory" {
						dir = memory(b)
					}
					commits(b, Options{Path: filepath.Join(dir, "state", "petrigate.db"), Sync: sync}, size)
				})
			}
		}
	}
}

// memory is a directory that is on no disk.
func memory(b *testing.B) string {
	dir, err := os.MkdirTemp("/dev/shm", "petrigate-")
	if err != nil {
		b.Skip("there is no /dev/shm: ", err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// commits counts each step as one operation.
func commits(b *testing.B, o Options, size int) {
	db := open(b, o)
	versions := make([]int64, 64)
	ops := make([]*backend.Op, size)
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += size {
		for i := range ops {
			s := (n + i) % len(versions)
			ops[i] = sample(fmt.Sprint("session", s), versions[s])
			versions[s]++
		}
		if err := db.Commit(b.Context(), ops); err != nil {
			b.Fatal(err)
		}
		for _, op := range ops {
			if op.Err != nil {
				b.Fatal(op.Err)
			}
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}

// fill makes so many sessions, with a record of each.
func fill(b *testing.B, db *Backend, sessions int) {
	for n := 0; n < sessions; {
		var ops []*backend.Op
		for ; len(ops) < 1000; n++ {
			ops = append(ops, sample(fmt.Sprint("session", n), 0))
		}
		if err := db.Commit(b.Context(), ops); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSince looks for records that have come since now, among 100,000.
func BenchmarkSince(b *testing.B) {
	db := open(b, Options{Path: place(b), Sync: Normal})
	fill(b, db, 100_000)
	for b.Loop() {
		for _, err := range db.Records(b.Context(), backend.Query{Since: time.Now()}) {
			b.Fatal("a record: ", err)
		}
	}
}

// BenchmarkList reads 100,000 idle sessions.
func BenchmarkList(b *testing.B) {
	db := open(b, Options{Path: place(b), Sync: Normal})
	const sessions = 100_000
	fill(b, db, sessions)
	for b.Loop() {
		n := 0
		for _, err := range db.List(b.Context(), backend.Session) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != sessions {
			b.Fatal(n)
		}
	}
}
