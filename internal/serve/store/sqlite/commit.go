package sqlite

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// Commit commits the ops in one transaction.
func (b *Backend) Commit(ctx context.Context, ops []*backend.Op) error {
	for _, op := range ops {
		op.Err = nil
	}
	reserves := slices.ContainsFunc(ops, func(op *backend.Op) bool { return op.Reserve })
	err := b.scribe.transact(ctx, reserves, func(tx *transaction) (bool, error) {
		return tx.run(ops)
	})
	if err != nil {
		b.scribe.lacked(ops, err)
		return fmt.Errorf("committing to the state database: %w", err)
	}
	return nil
}

// run decides which ops may be, and writes what they leave.
func (tx *transaction) run(ops []*backend.Op) (wrote bool, err error) {
	tx.drafts = make(map[backend.PartID]*draft, len(ops))
	order := make([]*draft, 0, len(ops))
	for _, op := range ops {
		if op.Err, err = tx.judge(op); err != nil {
			return false, err
		}
		if op.Err != nil {
			tx.refuse(op)
			continue
		}
		wrote = true
		if order, err = tx.take(op, order); err != nil {
			return false, err
		}
	}
	for _, d := range order {
		if err := tx.write(d); err != nil {
			return false, err
		}
	}
	return wrote, nil
}

// judge says why an op may not be, and uses up its approval if it may.
func (tx *transaction) judge(op *backend.Op) (refusal, err error) {
	if op.Reserve && (tx.notes.stops[""] || tx.notes.stops[op.Session]) {
		return backend.ErrStopped, nil
	}
	if newest := tx.clock.newest(); op.Reserve && !op.Time.IsZero() && newest.Sub(op.Time) > backend.Skew {
		return backend.Behind(op.Time, newest), nil
	}
	for i := range op.Writes {
		w := &op.Writes[i]
		version, err := tx.version(w.ID)
		if err != nil {
			return nil, err
		}
		if version != w.Version || tx.refused[w.ID] && tx.drafts[w.ID] == nil {
			return backend.ErrStale, nil
		}
	}
	if op.Uses == "" {
		return nil, nil
	}
	return tx.use(op)
}

// refuse notes what op would have written. A later op of the batch may have been decided on
// it, while another process has written the same version.
func (tx *transaction) refuse(op *backend.Op) {
	for i := range op.Writes {
		if w := &op.Writes[i]; !w.Read {
			if tx.refused == nil {
				tx.refused = map[backend.PartID]bool{}
			}
			tx.refused[w.ID] = true
		}
	}
}

// take makes an op part of the batch.
func (tx *transaction) take(op *backend.Op, order []*draft) ([]*draft, error) {
	for i := range op.Writes {
		if op.Writes[i].Read {
			continue
		}
		known := len(tx.drafts)
		tx.draft(&op.Writes[i], tx.at(op.Time))
		if len(tx.drafts) > known {
			order = append(order, tx.drafts[op.Writes[i].ID])
		}
	}
	return order, tx.record(op.Events)
}

// at is a time, or now.
func (tx *transaction) at(t time.Time) time.Time {
	if t.IsZero() {
		return tx.now()
	}
	return t
}
