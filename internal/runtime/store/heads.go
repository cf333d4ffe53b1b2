package store

import (
	"context"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// maxHeads is the maximum number of chains listed in a process's start record. Of the other
// processes' chains, a start record lists those with the newest records. Older chains are listed in
// the start records of earlier processes.
const maxHeads = 100

// Heads returns the last records of the other processes' chains, newest first, to be listed in this
// process's start record. It leaves out records that have been removed or soon will be, and returns
// at most maxHeads records.
func (d *Durable) Heads(ctx context.Context) ([]audit.Head, error) {
	records, err := d.database.Heads(ctx)
	if err != nil {
		return nil, err
	}
	gone, err := removedThrough(ctx, d.database)
	if err != nil {
		return nil, err
	}
	// A start record must not name a record that is about to be removed. Once the removal event is
	// removed too, the named record would seem to be missing.
	records = slices.DeleteFunc(records, func(r backend.Record) bool {
		return r.Writer == d.database.Writer() || r.Seq <= gone[r.Writer]
	})
	slices.SortStableFunc(records, func(a, b backend.Record) int { return b.Time.Compare(a.Time) })
	return list.Map(records[:min(len(records), maxHeads)], func(r backend.Record) audit.Head {
		return audit.Place{Seq: r.Seq, Hash: r.Hash}.Head(r.Writer)
	}), nil
}

// CountRecords returns the number of records in a database. It reads only the last record of each
// chain.
func CountRecords(ctx context.Context, b backend.Backend) (n uint64, err error) {
	heads, err := b.Heads(ctx)
	if err != nil {
		return 0, err
	}
	gone, err := removedThrough(ctx, b)
	for _, h := range heads {
		n += h.Seq - min(gone[h.Writer], h.Seq)
	}
	return n, err
}

// removedThrough returns, for each chain, the number of the last record that the newest removal
// event covers. Records up to this number have been removed or soon will be.
func removedThrough(ctx context.Context, b backend.Backend) (map[string]uint64, error) {
	e, _, _, err := backend.ReadRemoval(ctx, b)
	if err != nil {
		return nil, err
	}
	through := map[string]uint64{}
	for _, h := range e.Chains {
		through[h.Writer] = h.Seq
	}
	return through, nil
}
