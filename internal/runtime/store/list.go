package store

import (
	"context"
	"iter"
	"slices"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Sessions implements [admission.Ledger].
func (d *Durable) Sessions(ctx context.Context) iter.Seq2[admission.SessionInfo, error] {
	return func(yield func(admission.SessionInfo, error) bool) {
		list, err := d.list(ctx)
		if err != nil {
			yield(admission.SessionInfo{}, err)
			return
		}
		for _, s := range list {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// list returns the sessions in the database and those that exist only in this process.
func (d *Durable) list(ctx context.Context) (list []admission.SessionInfo, err error) {
	if _, err := d.endedProcesses(ctx); err != nil {
		return nil, err
	}
	for p, err := range d.database.List(ctx, backend.Session) {
		if err != nil {
			return nil, err
		}
		s, err := d.describe(&p)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	list = d.appendMissing(list)
	slices.SortFunc(list, func(a, b admission.SessionInfo) int { return a.Since.Compare(b.Since) })
	return list, nil
}
