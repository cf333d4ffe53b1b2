package postgres

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

const recordColumns = `SELECT w.no, w.name, r.seq, r.time, r.session, r.object, r.hash FROM petrigate_writer w JOIN petrigate_record r ON r.writer = w.no `

// Heads implements [backend.Backend].
func (d *DB) Heads(ctx context.Context) ([]backend.Record, error) {
	var heads []backend.Record
	err := d.read(ctx, "reading the heads of the chains of", func(ctx context.Context) error {
		found, err := d.records(ctx, recordColumns+`AND r.seq = w.seq ORDER BY w.name`)
		heads = nil
		for _, r := range found {
			heads = append(heads, r.Record)
		}
		return err
	})
	return heads, err
}

// numbered is a record with the number of its writer.
type numbered struct {
	backend.Record
	writer int64
}

func (d *DB) records(ctx context.Context, sql string, args ...any) ([]numbered, error) {
	rows, err := d.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	var all []numbered
	var r numbered
	var seq int64
	var session, hash []byte
	err = each(rows, []any{&r.writer, &r.Writer, &seq, &r.Time, &session, &r.Object, &hash}, func() {
		r.Seq, r.Session, r.Hash = uint64(seq), string(session), [32]byte(hash)
		all = append(all, r)
		r.Object = nil
	})
	return all, err
}

// Records implements [backend.Backend].
func (d *DB) Records(ctx context.Context, q backend.Query) iter.Seq2[backend.Record, error] {
	left := q.Limit
	q.Last = q.Last && q.Limit > 0
	return paged(func(last *numbered) ([]numbered, error) {
		n := page
		if q.Limit > 0 {
			n = min(left, page)
		}
		if q.Last {
			n = q.Limit
		}
		if n == 0 || q.Last && last != nil {
			return nil, nil
		}
		var found []numbered
		err := d.read(ctx, "reading the records of", func(ctx context.Context) (err error) {
			found, err = d.records(ctx, recordColumns+where(q), args(q, last, n))
			return err
		})
		if left -= len(found); q.Last {
			slices.Reverse(found)
		}
		return found, err
	})
}

// paged yields what next reads after the last row, until a page is not full.
func paged(next func(last *numbered) ([]numbered, error)) iter.Seq2[backend.Record, error] {
	return func(yield func(backend.Record, error) bool) {
		var last *numbered
		for {
			rows, err := next(last)
			if err != nil {
				yield(backend.Record{}, err)
				return
			}
			for _, r := range rows {
				if !yield(r.Record, nil) {
					return
				}
			}
			if len(rows) < page {
				return
			}
			last = &rows[len(rows)-1]
		}
	}
}

// where selects and orders one page of what q asks for.
func where(q backend.Query) string {
	sql := `WHERE true`
	if q.Writer != "" {
		sql += ` AND w.name = @writer AND r.seq > @after`
	}
	if !q.Since.IsZero() {
		sql += ` AND r.time >= @since`
	}
	if q.Session != "" {
		sql += ` AND r.session = @session`
	}
	order, desc := ` ORDER BY r.writer, r.seq`, ` ORDER BY r.writer DESC, r.seq DESC`
	if q.Writer == "" {
		sql += ` AND (r.time, r.writer, r.seq) > (@time, @no, @after)`
		order, desc = ` ORDER BY r.time, r.writer, r.seq`, ` ORDER BY r.time DESC, r.writer DESC, r.seq DESC`
	}
	if q.Last {
		order = desc
	}
	return sql + order + ` LIMIT @limit`
}

// args are the arguments of where, after the last row of the page before.
func args(q backend.Query, last *numbered, limit int) pgx.NamedArgs {
	a := pgx.NamedArgs{
		"writer": q.Writer, "after": int64(q.After), "since": q.Since, "session": []byte(q.Session),
		"time": time.Time{}, "no": int64(0), "limit": limit,
	}
	if q.Writer == "" {
		a["after"] = int64(0)
	}
	if last != nil {
		a["time"], a["no"], a["after"] = last.Time, last.writer, int64(last.Seq)
	}
	return a
}
