package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

const (
	insertSQL = `INSERT INTO petrigate_approval (id, key, state, session, version, created, expires, changed, data)
	VALUES ($1, $2, $3, $4, 1, $5, $6, now(), $7) ON CONFLICT DO NOTHING`

	replaceSQL = `UPDATE petrigate_approval SET key = $2, state = $3, session = $4, version = version + 1, created = $5, expires = $6, changed = now(), data = $7
	WHERE id = $1 AND version = $8`
)

// PutApproval implements [backend.Backend].
func (d *DB) PutApproval(ctx context.Context, a backend.Approval) (version int64, err error) {
	open := false // whether an earlier attempt received no response
	err = d.read(ctx, "writing an approval to", func(ctx context.Context) error {
		err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return writeApproval(ctx, tx, a) })
		if open && errors.Is(err, backend.ErrStale) {
			err = d.checkWritten(ctx, a)
		}
		open = open || err != nil && connectionLost(err)
		return err
	})
	if err != nil {
		return 0, err
	}
	d.notify(ctx)
	return a.Version + 1, nil
}

// checkWritten returns nil if this process has already written the approval in an attempt that
// received no answer. It returns [backend.ErrStale] if another process has written the approval.
func (d *DB) checkWritten(ctx context.Context, a backend.Approval) error {
	var same bool
	err := d.pool.QueryRow(ctx, `SELECT count(*) = 1 FROM petrigate_approval WHERE id = $1 AND version = $2 AND state = $3 AND data = $4`,
		[]byte(a.ID), a.Version+1, a.State, a.Data).Scan(&same)
	if err == nil && !same {
		return backend.ErrStale
	}
	return err
}

func writeApproval(ctx context.Context, tx pgx.Tx, a backend.Approval) error {
	sql, args := insertSQL, []any{[]byte(a.ID), []byte(a.Key), a.State, []byte(a.Session), a.Created, a.Expires, a.Data}
	if a.Version != 0 {
		sql, args = replaceSQL, append(args, a.Version)
	}
	tag, err := tx.Exec(ctx, sql, args...)
	if sqlState(err) == "23505" || err == nil && tag.RowsAffected() == 0 {
		return backend.ErrStale
	} else if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE petrigate_change SET n = n + 1`)
	return err
}

const approvalColumns = `SELECT id, key, state, session, version, created, expires, data FROM petrigate_approval WHERE `

// Approvals implements [backend.Backend].
func (d *DB) Approvals(ctx context.Context, id, key string, since time.Time) ([]backend.Approval, error) {
	sql, arg := `state IN ('pending', 'approved') OR changed > $1`, any(since)
	switch {
	case id != "":
		sql, arg = `id = $1`, []byte(id)
	case key != "":
		sql, arg = `sha256(key) = sha256($1) AND key = $1`, []byte(key)
	}
	var all []backend.Approval
	err := d.read(ctx, "reading the approvals of", func(ctx context.Context) error {
		var a backend.Approval
		var id, key, session []byte
		all = nil
		return d.forEachRow(ctx, []any{&id, &key, &a.State, &session, &a.Version, &a.Created, &a.Expires, &a.Data}, func() {
			a.ID, a.Key, a.Session = string(id), string(key), string(session)
			all = append(all, a)
			a.Data = nil
		}, approvalColumns+sql+` ORDER BY created, no`, arg)
	})
	return all, err
}

// DropApprovals implements [backend.Backend].
func (d *DB) DropApprovals(ctx context.Context, before time.Time) error {
	return d.read(ctx, "forgetting approvals of", func(ctx context.Context) error {
		_, err := d.pool.Exec(ctx, `DELETE FROM petrigate_approval WHERE changed < $1 AND state NOT IN ('pending', 'approved')`, before)
		return err
	})
}
