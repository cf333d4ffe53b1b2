package store

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// maxHeads bounds the chains that a start record names: those with the newest records. Earlier
// start records name the others.
const maxHeads = 100

// Heads returns the last records of the chains of other processes, the newest first.
func (d *Durable) Heads(ctx context.Context) ([]audit.Head, error) {
	records, err := d.database.Heads(ctx)
	if err != nil {
		return nil, err
	}
	gone, err := removedThrough(ctx, d.database)
	if err != nil {
		return nil, err
	}
	// A start record must not name a record that is about to be removed: the removal event could be
	// removed first, and the record would seem to be missing.
	records = slices.DeleteFunc(records, func(r backend.Record) bool {
		return r.Writer == d.database.Writer() || r.Seq <= gone[r.Writer]
	})
	slices.SortStableFunc(records, func(a, b backend.Record) int { return b.Time.Compare(a.Time) })
	var heads []audit.Head
	for _, r := range records[:min(len(records), maxHeads)] {
		heads = append(heads, audit.Head{Writer: r.Writer, Seq: r.Seq, Hash: hex.EncodeToString(r.Hash[:])})
	}
	return heads, nil
}

// Stored counts the records in a database. It reads only the last record of each chain.
func Stored(ctx context.Context, b backend.Backend) (n uint64, err error) {
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

// removedThrough returns the number of the last removed record of each chain, according to the
// newest removal event. The record itself might still exist.
func removedThrough(ctx context.Context, b backend.Backend) (map[string]uint64, error) {
	e, _, _, err := readRemoved(ctx, b)
	if err != nil {
		return nil, err
	}
	through := map[string]uint64{}
	for _, h := range e.Chains {
		through[h.Writer] = h.Seq
	}
	return through, nil
}
