package sqlite

import (
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// PutApproval writes an approval. If the version in the database differs from a.Version, another
// process has changed or used the approval, and PutApproval returns [backend.ErrStale]. It also
// returns [backend.ErrStale] if the approval is live and another live approval has the same key.
func (c *Checkpoint) PutApproval(a backend.Approval, now time.Time) error {
	stale := false
	err := c.write("writing an approval to the state database", func(l *link) (err error) {
		if stale, err = conflicts(l, a); err != nil || stale {
			return err
		}
		if err := writeApproval(l, a, now); err != nil {
			return err
		}
		return notifyChange(l)
	})
	if err == nil && stale {
		err = backend.ErrStale
	}
	return err
}

// conflicts reports whether the stored approval has another version, or whether another live
// approval has the same key.
func conflicts(l *link, a backend.Approval) (bool, error) {
	version, err := l.number("SELECT version FROM approval WHERE id = ?", a.ID)
	if err != nil || version != a.Version {
		return true, err
	}
	if !a.Live() {
		return false, nil
	}
	others, err := l.number("SELECT count(*) FROM approval WHERE key = ? AND ended IS NULL AND id <> ?", a.Key, a.ID)
	return others > 0, err
}

func writeApproval(l *link, a backend.Approval, now time.Time) error {
	var ended any
	if !a.Live() {
		ended = now.UnixMicro()
	}
	return l.exec(`INSERT INTO approval (id, key, state, session, version, created, expires, ended, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET key = excluded.key, state = excluded.state, session = excluded.session, version = excluded.version,
  created = excluded.created, expires = excluded.expires, ended = coalesce(ended, excluded.ended), data = excluded.data`,
		a.ID, a.Key, a.State, a.Session, a.Version+1, a.Created.UnixMicro(), a.Expires.UnixMicro(), ended, string(a.Data))
}

// Approvals reads the approval with the given ID or the approvals with the given key, sorted by
// creation time. If both the ID and the key are empty, it reads all approvals that are live or that
// ended at or after the given time.
func (r Reading) Approvals(id, key string, since time.Time) (all []backend.Approval, err error) {
	const columns = "SELECT id, key, state, session, version, created, expires, data FROM approval WHERE "
	where, args := "(ended IS NULL OR ended >= ?) ORDER BY created, id", []any{since.UnixMicro()}
	switch {
	case id != "":
		where, args = "id = ?", []any{id}
	case key != "":
		where, args = "key = ? ORDER BY created, id", []any{key}
	}
	err = r.link.rows(columns+where, args, func(scan func(...any) error) error {
		var a backend.Approval
		var created, expires int64
		err := scan(&a.ID, &a.Key, &a.State, &a.Session, &a.Version, &created, &expires, &a.Data)
		a.Created, a.Expires = fromMicro(created), fromMicro(expires)
		all = append(all, a)
		return err
	})
	return all, err
}

// DropApprovals removes the approvals that ended before the given time.
func (c *Checkpoint) DropApprovals(before time.Time) error {
	return c.write("removing approvals from the state database", func(l *link) error {
		return l.exec("DELETE FROM approval WHERE ended < ?", before.UnixMicro())
	})
}
