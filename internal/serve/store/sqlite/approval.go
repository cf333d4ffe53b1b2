package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// use uses up the approval of an op.
func (tx *transaction) use(op *backend.Op) (refusal, err error) {
	at := tx.at(op.Time).UnixMicro()
	n, err := tx.link.exec("UPDATE approval SET state = ?, version = version + 1, ended = ? WHERE id = ? AND state = ? AND expires > ?",
		backend.Consumed, at, op.Uses, backend.Approved, at)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return backend.ErrUsed, nil
	}
	return nil, tx.attend()
}

// PutApproval writes an approval.
func (b *Backend) PutApproval(ctx context.Context, a backend.Approval) (version int64, err error) {
	stale := false
	err = b.scribe.transact(ctx, true, func(tx *transaction) (bool, error) {
		if stale, err = tx.occupied(a); err != nil || stale {
			return false, err
		}
		if err := tx.put(a); err != nil {
			return false, err
		}
		return true, tx.attend()
	})
	switch {
	case err != nil:
		return 0, fmt.Errorf("writing an approval to the state database: %w", err)
	case stale:
		return 0, backend.ErrStale
	}
	return a.Version + 1, nil
}

// occupied says that the approval was changed, or that another live one has its key.
func (tx *transaction) occupied(a backend.Approval) (bool, error) {
	version, err := tx.link.number("SELECT version FROM approval WHERE id = ?", a.ID)
	if err != nil || version != a.Version {
		return true, err
	}
	if !a.Live() {
		return false, nil
	}
	others, err := tx.link.number("SELECT count(*) FROM approval WHERE key = ? AND ended IS NULL AND id <> ?", a.Key, a.ID)
	return others > 0, err
}

func (tx *transaction) put(a backend.Approval) error {
	var ended any
	if !a.Live() {
		ended = tx.now().UnixMicro()
	}
	_, err := tx.link.exec(`INSERT INTO approval (id, key, state, session, version, created, expires, ended, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET key = excluded.key, state = excluded.state, session = excluded.session, version = excluded.version,
  created = excluded.created, expires = excluded.expires, ended = coalesce(ended, excluded.ended), data = excluded.data`,
		a.ID, a.Key, a.State, a.Session, a.Version+1, a.Created.UnixMicro(), a.Expires.UnixMicro(), ended, string(a.Data))
	return err
}

// Approvals reads approvals.
func (b *Backend) Approvals(_ context.Context, id, key string, since time.Time) (all []backend.Approval, err error) {
	const columns = "SELECT id, key, state, session, version, created, expires, data FROM approval WHERE "
	where, args := "(ended IS NULL OR ended >= ?) ORDER BY created, id", []any{since.UnixMicro()}
	switch {
	case id != "":
		where, args = "id = ?", []any{id}
	case key != "":
		where, args = "key = ? ORDER BY created, id", []any{key}
	}
	err = b.read(func(l *link) error {
		all = nil
		return l.rows(columns+where, args, func(scan func(...any) error) error {
			var a backend.Approval
			var created, expires int64
			err := scan(&a.ID, &a.Key, &a.State, &a.Session, &a.Version, &created, &expires, &a.Data)
			a.Created, a.Expires = micro(created), micro(expires)
			all = append(all, a)
			return err
		})
	})
	return all, err
}

// DropApprovals forgets those that ended before.
func (b *Backend) DropApprovals(ctx context.Context, before time.Time) error {
	err := b.scribe.transact(ctx, false, func(tx *transaction) (bool, error) {
		n, err := tx.link.exec("DELETE FROM approval WHERE ended < ?", before.UnixMicro())
		return n > 0, err
	})
	if err != nil {
		return fmt.Errorf("removing approvals from the state database: %w", err)
	}
	return nil
}
