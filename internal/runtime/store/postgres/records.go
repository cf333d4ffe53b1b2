package postgres

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// row is a record with the number of its writer.
type row struct {
	backend.Record
	place int64
}

// Heads implements [backend.Backend].
func (d *DB) Heads(ctx context.Context) (heads []backend.Record, err error) {
	err = d.read(ctx, "reading the heads of the chains of", func(ctx context.Context) error {
		rows, err := d.records(ctx, `WHERE r.seq = w.seq ORDER BY w.name`)
		heads = list.Map(rows, func(r row) backend.Record { return r.Record })
		return err
	})
	return heads, err
}

// Records implements [backend.Backend]. If a query selects several writers, their records are
// sorted by time. Records are read in pages, so that each statement is short and none is open while
// the caller processes records.
func (d *DB) Records(ctx context.Context, q backend.Query) iter.Seq2[backend.Record, error] {
	q.Last = q.Last && q.Limit > 0
	return func(yield func(backend.Record, error) bool) {
		var after row
		page := cmp.Or(q.Page, backend.PageSize)
		for left := q.Limit; left > 0 || q.Limit == 0; left -= page {
			n := page
			if left > 0 && (left < n || q.Last) {
				n = left
			}
			var rows []row
			err := d.read(ctx, "reading the records of", func(ctx context.Context) (err error) {
				text, args := recordsQuery(q, after)
				args["limit"] = n
				rows, err = d.records(ctx, text, args)
				return err
			})
			if err != nil {
				yield(backend.Record{}, err)
				return
			}
			if q.Last { // the rows are in reverse order
				slices.Reverse(rows)
			}
			for i := range rows {
				if !yield(rows[i].Record, nil) {
					return
				}
			}
			if q.Last || len(rows) < n {
				return
			}
			after = rows[len(rows)-1]
		}
	}
}

// recordsQuery returns the clauses WHERE, ORDER BY and LIMIT of a statement that reads the records
// after the given row. It also returns the statement's arguments, except the limit.
func recordsQuery(q backend.Query, after row) (text string, args pgx.NamedArgs) {
	text, order := `WHERE (r.time, r.writer, r.seq) > (@time, @no, @after)`, []string{`r.time`, `r.writer`, `r.seq`}
	args = pgx.NamedArgs{"time": after.Time, "no": after.place, "after": int64(after.Seq)}
	if q.Writer != "" {
		text, order = `WHERE w.name = @writer AND r.seq > @after`, order[1:]
		args["writer"], args["after"] = q.Writer, int64(max(after.Seq, q.After))
	}
	if !q.Since.IsZero() {
		text += ` AND r.time >= @since`
		args["since"] = q.Since
	}
	if q.Session != "" {
		text += ` AND r.session IN (@session, '')`
		args["session"] = []byte(q.Session)
	}
	between := `, `
	if q.Last {
		between = ` DESC, `
	}
	return text + ` ORDER BY ` + strings.Join(order, between) + strings.TrimSuffix(between, `, `) + ` LIMIT @limit`, args
}

// records runs a SELECT statement and returns the records. The caller supplies the clauses that
// follow FROM.
func (d *DB) records(ctx context.Context, end string, args ...any) (all []row, err error) {
	var r row
	var seq int64
	var session, hash []byte
	err = d.forEachRow(ctx, []any{&r.place, &r.Writer, &seq, &r.Time, &session, &r.Object, &hash}, func() {
		r.Seq, r.Session, r.Hash = uint64(seq), string(session), [32]byte(hash)
		all = append(all, r)
		r.Object = nil
	}, `SELECT w.no, w.name, r.seq, r.time, r.session, r.object, r.hash
		FROM petrigate_writer w JOIN petrigate_record r ON r.writer = w.no `+end, args...)
	return all, err
}
