package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// removeSQL deletes the oldest records of a chain, up to a given record, but at most a given number
// of records. It skips rows that another replica is deleting. A subquery looks up the writer, so
// that PostgreSQL finds the rows by the primary key, regardless of the table's statistics.
const removeSQL = `DELETE FROM petrigate_record WHERE writer = (SELECT no FROM petrigate_writer WHERE name = $1)
	AND seq = ANY (ARRAY(SELECT seq FROM petrigate_record WHERE writer = (SELECT no FROM petrigate_writer WHERE name = $1)
		AND seq <= $2 ORDER BY seq LIMIT $3 FOR UPDATE SKIP LOCKED))`

// RemoveRecords implements [backend.Backend]. It does not wait for the disk, because records that
// reappear after a crash are removed again.
func (d *DB) RemoveRecords(ctx context.Context, writer string, through uint64, most int) (removed int, err error) {
	err = d.read(ctx, "removing old records from", func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT set_config('synchronous_commit', 'off', true)`); err != nil {
				return err
			}
			tag, err := tx.Exec(ctx, removeSQL, writer, int64(through), most)
			removed = int(tag.RowsAffected())
			return err
		})
	})
	return removed, err
}
