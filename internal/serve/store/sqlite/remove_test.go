package sqlite

import (
	"errors"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// TestRemovedInWitness: records that were removed are not missed after a restart, and an older copy of the
// database is found out as before.
func TestRemovedInWitness(outer *testing.T) {
	t := try(outer)
	t.good(3)
	first := t.backend.Writer()
	t.must(t.backend.Close())
	t.copy(t.path, t.path+".old")
	t.backend = open(outer, Options{Path: t.path})
	t.good(1)
	of := func(h testified) bool { return h.Writer == first }
	if before, err := readTestimony(t.path + witnessSuffix); err != nil || !slices.ContainsFunc(before.Heads, of) {
		t.Fatal(before, err)
	}
	n, err := t.backend.RemoveRecords(t.Context(), first, 3, 100)
	t.must(err)
	after, err := readTestimony(t.path + witnessSuffix)
	if n != 3 || err != nil || len(after.Heads) != 1 || of(after.Heads[0]) {
		t.Errorf("%d records are removed, the witness has %+v, %v", n, after, err)
	}
	t.good(1)
	t.must(t.backend.Close())
	t.backend = open(outer, Options{Path: t.path})
	t.good(1)
	t.must(t.backend.Close())
	t.copy(t.path+".old", t.path)
	if _, err := Open(t.Context(), Options{Path: t.path}); !errors.Is(err, backend.ErrRolledBack) {
		t.Error(err)
	}
}
