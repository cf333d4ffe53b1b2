package store

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// maxHeads bounds the chains that a start names: those with the newest records. The others
// were named by starts before.
const maxHeads = 100

// Heads are the ends of the chains of other processes, the newest first.
func (d *Durable) Heads(ctx context.Context) ([]audit.Head, error) {
	records, err := d.database.Heads(ctx)
	if err != nil {
		return nil, err
	}
	gone, err := removedThrough(ctx, d.database)
	if err != nil {
		return nil, err
	}
	// A start names no record that is about to be removed: the event of the removal could go first,
	// and the record would seem to be missing.
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

// Stored counts the records in a database. It reads the last one of each chain, and no others.
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

// removedThrough returns the number of the last record that is removed of each chain, as the newest event
// of a removal has it: it may still be there.
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
