package postgres

import "context"

// removeSQL locks the rows that it removes, which nobody else needs. Rows that another replica is
// removing are passed over.
const removeSQL = `DELETE FROM petrigate_record d USING (
	SELECT r.writer, r.seq FROM petrigate_record r JOIN petrigate_writer w ON w.no = r.writer
	WHERE w.name = $1 AND r.seq <= $2 ORDER BY r.seq LIMIT $3 FOR UPDATE OF r SKIP LOCKED) old
	WHERE d.writer = old.writer AND d.seq = old.seq`

// RemoveRecords implements [backend.Backend].
func (d *DB) RemoveRecords(ctx context.Context, writer string, through uint64, most int) (removed int, err error) {
	err = d.read(ctx, "removing old records from", func(ctx context.Context) error {
		tag, err := d.pool.Exec(ctx, removeSQL, writer, int64(through), most)
		removed = int(tag.RowsAffected())
		return err
	})
	return removed, err
}
