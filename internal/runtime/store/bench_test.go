package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
)

// twenty is a policy of twenty rules.
func twenty(b *testing.B) *gate.Policy {
	b.Helper()
	var text []string
	for i := range 10 {
		text = append(text, fmt.Sprintf("limit t%d to 1000000000 per session", i), fmt.Sprintf("require t%d before u%d", i, i))
	}
	p, err := gate.NewPolicy(nets(b, strings.Join(text, "\n")), gate.PolicyOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkCall decides and settles calls of 1 and 64 sessions.
func BenchmarkCall(b *testing.B) {
	p := twenty(b)
	for _, kind := range []string{"memory", "log", "tmpfs", "normal", "journal", "always"} {
		for _, sessions := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", kind, sessions), func(b *testing.B) {
				l := ledgerOf(b, kind, p)
				calls(b, l, sessions)
			})
		}
	}
}

func ledgerOf(b *testing.B, kind string, p *gate.Policy) admission.Ledger {
	b.Helper()
	dir, sync := b.TempDir(), journal.Full
	switch kind {
	case "memory":
		return store.NewMemory(p, nil, nil, audit.NewRecorder(nil, nil))
	case "log":
		log, err := audit.Open(filepath.Join(dir, "audit.jsonl"), audit.Rotation{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = log.Close() })
		return store.NewMemory(p, nil, nil, audit.NewRecorder(log, nil))
	case "tmpfs":
		var err error
		if dir, err = os.MkdirTemp("/dev/shm", "petrigate"); err != nil {
			b.Skip("this needs a file system in memory at /dev/shm")
		}
		b.Cleanup(func() { _ = os.RemoveAll(dir) })
	case "normal":
		sync = journal.Normal
	case "always":
		sync = journal.Always
	}
	db, err := journal.Open(b.Context(), journal.Options{Path: filepath.Join(dir, "state", "db"), Sync: sync})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return durable(b, db, p, nil)
}

func calls(b *testing.B, l admission.Ledger, sessions int) {
	b.Helper()
	keys := make([]admission.Key, sessions)
	for i := range keys {
		keys[i] = admission.Key{Session: fmt.Sprint("session ", i), Principal: "ann"}
		begin(b, l, keys[i])
	}
	b.ReportAllocs()
	b.ResetTimer()
	var wait sync.WaitGroup
	for i, k := range keys {
		wait.Go(func() {
			for n := i; n < b.N; n += sessions {
				number, err := admit(b.Context(), l, k, gate.Call{Tool: fmt.Sprint("t", n%10), Time: start})
				if err == nil {
					err = finish(b.Context(), l, k, number, gate.Success)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// BenchmarkStart opens a database with 100,000 sessions, and finds one of them or lists all.
func BenchmarkStart(b *testing.B) {
	path := filepath.Join(b.TempDir(), "state", "db")
	db := database(b, path)
	p := twenty(b)
	const sessions, batch = 100_000, 1000
	for i := 0; i < sessions; i += batch {
		ops := make([]*backend.Op, batch)
		for k := range ops {
			ops[k] = &backend.Op{Time: start, Writes: []backend.Write{{
				ID:   backend.PartID{Scope: backend.Session, Name: fmt.Sprint(i + k)},
				Data: []byte(`{"v":1,"policy":"` + p.Fingerprint()[:32] + `","principal":"ann","since":1795435100,"owner":5,"last":7}`),
			}}}
		}
		if err := db.Commit(b.Context(), ops); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("list", func(b *testing.B) {
		d := durable(b, database(b, path), p, nil)
		for b.Loop() {
			n := 0
			for _, err := range d.Sessions(b.Context()) {
				if n++; err != nil {
					b.Fatal(err)
				}
			}
			if n != sessions {
				b.Fatal(n)
			}
		}
	})
	b.Run("start", func(b *testing.B) { start100k(b, path, p) })
}

// start100k opens the database and makes a call in one of its sessions.
func start100k(b *testing.B, path string, p *gate.Policy) {
	b.Helper()
	for b.Loop() {
		d := durable(b, database(b, path), p, nil)
		if _, err := admit(b.Context(), d, admission.Key{Session: "777", Principal: "ann"}, gate.Call{Tool: "t1"}); err != nil {
			b.Fatal(err)
		}
		if err := d.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
