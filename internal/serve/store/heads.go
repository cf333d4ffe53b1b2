package store

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/store/backend"
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
	records = slices.DeleteFunc(records, func(r backend.Record) bool { return r.Writer == d.database.Writer() })
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
	gone, _, _, err := readRemoved(ctx, b)
	if err != nil {
		return 0, err
	}
	through := map[string]uint64{}
	for _, h := range gone.Chains {
		through[h.Writer] = h.Seq
	}
	for _, h := range heads {
		n += h.Seq - min(through[h.Writer], h.Seq)
	}
	return n, nil
}
