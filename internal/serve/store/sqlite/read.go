package sqlite

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// Load reads parts as they are now.
func (b *Backend) Load(_ context.Context, ids ...backend.PartID) (parts []backend.Part, err error) {
	err = b.read(func(l *link) error {
		parts = make([]backend.Part, len(ids))
		for i, id := range ids {
			parts[i].ID = id
			if err := load(l, &parts[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return parts, err
}

// read runs reads in one transaction.
func (b *Backend) read(f func(*link) error) error {
	if err := b.reader.use(f); err != nil {
		return fmt.Errorf("reading from the state database: %w", err)
	}
	return nil
}

func load(l *link, p *backend.Part) error {
	args := []any{string(p.ID.Scope), p.ID.Name}
	var changed int64
	found, err := l.row("SELECT version, changed, data FROM part WHERE scope = ? AND name = ?", args, &p.Version, &changed, &p.Data)
	if err != nil || !found {
		return err
	}
	p.Changed = micro(changed)
	return l.rows("SELECT key, data FROM part_value WHERE scope = ? AND name = ?", args, func(scan func(...any) error) error {
		var key string
		var data []byte
		err := scan(&key, &data)
		if p.Values == nil {
			p.Values = map[string][]byte{}
		}
		p.Values[key] = data
		return err
	})
}

// Versions reads the versions of parts as they are now.
func (b *Backend) Versions(_ context.Context, ids ...backend.PartID) (versions []int64, err error) {
	err = b.read(func(l *link) (err error) {
		versions = make([]int64, len(ids))
		for i, id := range ids {
			if versions[i], err = l.number(partVersion, string(id.Scope), id.Name); err != nil {
				return err
			}
		}
		return nil
	})
	return versions, err
}

// List reads the parts of a scope, the oldest first.
func (b *Backend) List(ctx context.Context, scope backend.Scope) iter.Seq2[backend.Part, error] {
	return b.ListWith(ctx, scope, "")
}

// ListWith reads the parts of a scope that have the text in their data, the oldest first.
func (b *Backend) ListWith(_ context.Context, scope backend.Scope, text string) iter.Seq2[backend.Part, error] {
	return func(yield func(backend.Part, error) bool) {
		var all []backend.Part
		err := b.read(func(l *link) error {
			all = nil
			return l.rows("SELECT name, version, changed, data FROM part WHERE scope = ? AND instr(data, ?) > 0 ORDER BY changed, name", []any{string(scope), text}, func(scan func(...any) error) error {
				p := backend.Part{ID: backend.PartID{Scope: scope}}
				var changed int64
				err := scan(&p.ID.Name, &p.Version, &changed, &p.Data)
				p.Changed = micro(changed)
				all = append(all, p)
				return err
			})
		})
		if err != nil {
			yield(backend.Part{}, err)
			return
		}
		for _, p := range all {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// Heads are the last records of all chains.
func (b *Backend) Heads(context.Context) (heads []backend.Record, err error) {
	err = b.read(func(l *link) error {
		rows, err := records(l, " WHERE r.seq = (SELECT max(seq) FROM record WHERE writer = w.id) ORDER BY w.name", nil)
		heads = nil
		for i := range rows {
			heads = append(heads, rows[i].Record)
		}
		return err
	})
	return heads, err
}

// Misplaced is the first record whose column late does not follow from the times of those
// before it; nil where there is none. Records from before since may have been removed, so that what
// follows from their times alone is not known; zero: none was.
func (b *Backend) Misplaced(_ context.Context, since time.Time) (first *backend.Record, err error) {
	err = b.read(func(l *link) error {
		const late = ` WHERE r.id = (SELECT id FROM (SELECT id, time, late, max(time) OVER (ORDER BY id) - time AS want FROM record)
			WHERE late <> want AND time + max(late, want) >= ? ORDER BY id LIMIT 1)`
		rows, err := records(l, late, []any{since.UnixMicro()})
		first = nil
		if len(rows) > 0 {
			first = &rows[0].Record
		}
		return err
	})
	return first, err
}

// Records reads records in the order in which they were committed.
func (b *Backend) Records(ctx context.Context, q backend.Query) iter.Seq2[backend.Record, error] {
	q.Last = q.Last && q.Limit > 0
	return backend.Pages(q, func(after backend.Row, n int) (rows []backend.Row, err error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err = b.read(func(l *link) (err error) {
			if after.Place == 0 && !q.Since.IsZero() {
				if after.Place, err = before(l, q.Since.UnixMicro()); err != nil {
					return err
				}
			}
			text, args := selected(q, after.Place)
			rows, err = records(l, text, append(args, n))
			return err
		})
		return rows, err
	})
}

// selected says which records are read next, after the one with the id.
func selected(q backend.Query, id int64) (text string, args []any) {
	text, args = " WHERE r.id > ?", []any{id}
	also := func(condition string, values ...any) {
		text += " AND " + condition
		args = append(args, values...)
	}
	if q.Writer != "" {
		also("r.writer = (SELECT id FROM writer WHERE name = ?) AND r.seq > ?", q.Writer, int64(q.After))
	}
	if !q.Since.IsZero() {
		also("r.time >= ?", q.Since.UnixMicro())
	}
	if q.Session != "" {
		also("r.session IN (?, '')", q.Session)
	}
	if q.Last {
		return text + " ORDER BY r.id DESC LIMIT ?", args
	}
	return text + " ORDER BY r.id LIMIT ?", args
}

// before is the id of a record such that those up to it are all of before a time: most that
// are, or all.
func before(l *link, at int64) (id int64, err error) {
	end, err := l.number("SELECT coalesce(max(id), 0) FROM record")
	for id < end && err == nil {
		var next, latest int64
		middle := id + (end-id)/2
		_, err = l.row("SELECT id, time + late FROM record WHERE id > ? ORDER BY id LIMIT 1", []any{middle}, &next, &latest)
		if latest < at {
			id = next
		} else {
			end = middle
		}
	}
	return id, err
}

// records reads the records that the end of the statement selects.
func records(l *link, end string, args []any) (all []backend.Row, err error) {
	const columns = "SELECT r.id, w.name, r.seq, r.hash, r.time, r.session, r.object FROM record r JOIN writer w ON w.id = r.writer"
	err = l.rows(columns+end, args, func(scan func(...any) error) error {
		var r backend.Row
		var seq, at int64
		var hash []byte
		if err := scan(&r.Place, &r.Writer, &seq, &hash, &at, &r.Session, &r.Object); err != nil {
			return err
		}
		if len(hash) != len(r.Hash) {
			return damaged("record", r.Place)
		}
		copy(r.Hash[:], hash)
		r.Seq, r.Time = uint64(seq), micro(at)
		all = append(all, r)
		return nil
	})
	return all, err
}
