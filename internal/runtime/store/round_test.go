package store_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// TestRoundKey: processes that start at the same time share a key, and a later process gets the same
// key. A damaged key is not replaced, and no error contains it.
func TestRoundKey(t *testing.T) {
	t.Parallel()
	path, p := place(t), policyOf(t)
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		d := durable(t, database(t, path), p, nil)
		all.Go(func() {
			key, err := d.RoundKey(t.Context())
			if keys[i] = key; err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b := database(t, path)
	later, err := durable(t, b, p, nil).RoundKey(t.Context())
	if err != nil || len(later) != 32 {
		t.Fatalf("%d bytes, %v", len(later), err)
	}
	for _, key := range keys {
		if !bytes.Equal(key, later) {
			t.Error("two processes have different keys")
		}
	}
	id := backend.PartID{Scope: "key", Name: "rounds"}
	spoilt := &backend.Op{Writes: []backend.Write{{ID: id, Version: 1, Data: []byte(`"c2VjcmV0"`)}}}
	if err := b.Commit(t.Context(), []*backend.Op{spoilt}); err != nil || spoilt.Err != nil {
		t.Fatal(err, spoilt.Err)
	}
	if key, err := durable(t, database(t, path), p, nil).RoundKey(t.Context()); err == nil || strings.Contains(err.Error(), "c2V") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%q, %v", key, err)
	}
}

// TestRoundIsTakenOnce: one process stores a round, and another takes it once.
func TestRoundIsTakenOnce(t *testing.T) {
	t.Parallel()
	path, p := place(t), policyOf(t)
	processes := make([]*store.Durable, 4)
	for i := range processes {
		processes[i] = durable(t, database(t, path), p, nil)
	}
	for round := range 20 {
		if err := processes[round%4].KeepRound(t.Context(), "id", []byte(`{"a":1}`)); err != nil {
			t.Fatal(err)
		}
		for id, data := range processes[0].KeptRounds(t.Context()) {
			if id != "id" || string(data) != `{"a":1}` {
				t.Errorf("%s: %s", id, data)
			}
		}
		var mu sync.Mutex
		var all sync.WaitGroup
		taken := 0
		for i, d := range processes {
			all.Go(func() {
				take := func() ([]byte, error) { return d.TakeRound(t.Context(), "session", "id") }
				if i == 0 {
					take = func() ([]byte, error) { return d.DropRound(t.Context(), "id") }
				}
				data, err := take()
				mu.Lock()
				defer mu.Unlock()
				if err != nil || data != nil && string(data) != `{"a":1}` {
					t.Errorf("%s, %v", data, err)
				}
				if data != nil {
					taken++
				}
			})
		}
		if all.Wait(); taken != 1 {
			t.Errorf("taken %d times", taken)
		}
	}
}
