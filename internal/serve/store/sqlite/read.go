package sqlite

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// Load reads parts as they are now.
func (b *Backend) Load(_ context.Context, ids ...backend.PartID) (parts []backend.Part, err error) {
	err = b.reader.use(func(l *link) error {
		parts = make([]backend.Part, len(ids))
		for i, id := range ids {
			parts[i].ID = id
			if err := load(l, &parts[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading from the state database: %w", err)
	}
	return parts, nil
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
	err = b.reader.use(func(l *link) error {
		versions = make([]int64, len(ids))
		for i, id := range ids {
			if versions[i], err = l.number(partVersion, string(id.Scope), id.Name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading from the state database: %w", err)
	}
	return versions, nil
}

// List reads the parts of a scope, the oldest first.
func (b *Backend) List(_ context.Context, scope backend.Scope) iter.Seq2[backend.Part, error] {
	return func(yield func(backend.Part, error) bool) {
		var all []backend.Part
		err := b.reader.use(func(l *link) error {
			all = nil
			return l.rows("SELECT name, version, changed, data FROM part WHERE scope = ? ORDER BY changed, name", []any{string(scope)}, func(scan func(...any) error) error {
				p := backend.Part{ID: backend.PartID{Scope: scope}}
				var changed int64
				err := scan(&p.ID.Name, &p.Version, &changed, &p.Data)
				p.Changed = micro(changed)
				all = append(all, p)
				return err
			})
		})
		if err != nil {
			yield(backend.Part{}, fmt.Errorf("reading from the state database: %w", err))
			return
		}
		for _, p := range all {
			if !yield(p, nil) {
				return
			}
		}
	}
}

const recordColumns = "SELECT r.id, w.name, r.seq, r.hash, r.time, r.session, r.object FROM record r JOIN writer w ON w.id = r.writer"

// Heads are the last records of all chains.
func (b *Backend) Heads(context.Context) (heads []backend.Record, err error) {
	err = b.reader.use(func(l *link) error {
		var last int64
		heads, err = records(l, recordColumns+" WHERE r.seq = (SELECT max(seq) FROM record WHERE writer = w.id) ORDER BY w.name", nil, &last)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading from the state database: %w", err)
	}
	return heads, nil
}

// page is how many records are read at once.
const page = 1000

// Records reads records in pages, so that the log of the database can start over while
// the caller does something with them.
func (b *Backend) Records(ctx context.Context, q backend.Query) iter.Seq2[backend.Record, error] {
	return func(yield func(backend.Record, error) bool) {
		last, left := int64(0), q.Limit
		for first := true; ; first = false {
			var some []backend.Record
			err := b.reader.use(func(l *link) (err error) {
				if first && q.Last && q.Limit > 0 {
					if last, err = before(l, q); err != nil {
						return err
					}
				}
				some, err = records(l, recordColumns+conditions(q)+" ORDER BY r.id LIMIT ?", append(arguments(q, last), size(left)), &last)
				return err
			})
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(backend.Record{}, fmt.Errorf("reading records from the state database: %w", err))
				return
			}
			for _, r := range some {
				if !yield(r, nil) {
					return
				}
			}
			if left > 0 {
				left -= len(some)
			}
			if len(some) < page {
				return
			}
		}
	}
}

// size is how many records are read next, of those that are left to read.
func size(left int) int {
	if left > 0 {
		return min(left, page)
	}
	return page
}

func conditions(q backend.Query) string {
	var b strings.Builder
	b.WriteString(" WHERE r.id > ?")
	if q.Writer != "" {
		b.WriteString(" AND r.writer = (SELECT id FROM writer WHERE name = ?) AND r.seq > ?")
	}
	if !q.Since.IsZero() {
		b.WriteString(" AND r.time >= ?")
	}
	if q.Session != "" {
		b.WriteString(" AND r.session = ?")
	}
	return b.String()
}

func arguments(q backend.Query, last int64) []any {
	args := []any{last}
	if q.Writer != "" {
		args = append(args, q.Writer, int64(q.After))
	}
	if !q.Since.IsZero() {
		args = append(args, q.Since.UnixMicro())
	}
	if q.Session != "" {
		args = append(args, q.Session)
	}
	return args
}

// before is the id before the first of the last records.
func before(l *link, q backend.Query) (int64, error) {
	text := "SELECT coalesce(min(id) - 1, 0) FROM (SELECT r.id FROM record r" + conditions(q) + " ORDER BY r.id DESC LIMIT ?)"
	return l.number(text, append(arguments(q, 0), q.Limit)...)
}

// records reads records, and leaves the id of the last of them.
func records(l *link, text string, args []any, last *int64) (all []backend.Record, err error) {
	err = l.rows(text, args, func(scan func(...any) error) error {
		var r backend.Record
		var seq, at int64
		var hash []byte
		if err := scan(last, &r.Writer, &seq, &hash, &at, &r.Session, &r.Object); err != nil {
			return err
		}
		if len(hash) != len(r.Hash) {
			return damaged("record", *last)
		}
		copy(r.Hash[:], hash)
		r.Seq, r.Time = uint64(seq), micro(at)
		all = append(all, r)
		return nil
	})
	return all, err
}
