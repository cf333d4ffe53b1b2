package postgres

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// forEachRow runs a query. It scans each row of the result into the given variables, and then calls
// f.
func (d *DB) forEachRow(ctx context.Context, columns []any, f func(), sql string, args ...any) error {
	rows, err := d.pool.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, columns, func() error {
		f()
		return nil
	})
	return err
}

const markSQL = `(SELECT m.mark || '.' || m.tableoid FROM petrigate_mark m)`

const loadSQL = `SELECT coalesce(p.version, 0), p.data, coalesce(p.changed, 'epoch'),
	(SELECT array_agg(v.key ORDER BY v.key) FROM petrigate_value v WHERE v.part = p.id),
	(SELECT array_agg(v.data ORDER BY v.key) FROM petrigate_value v WHERE v.part = p.id),
	coalesce(` + markSQL + `, '')` + eachPartSQL

// eachPartSQL selects the parts of the state with the given scopes and names, in the order given.
// For a part that does not exist, the columns of petrigate_part are null.
const eachPartSQL = `
FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS a (scope, name, slot)
LEFT JOIN petrigate_part p ON p.scope = a.scope AND p.name = a.name
ORDER BY a.slot`

// readCurrent runs f, which reads n parts of the state. f also returns the database's mark, which
// changes when the server recovers from a crash; see [freshParts]. If this mark differs from the
// one known to this process, readCurrent updates the known mark and runs f again.
func (d *DB) readCurrent(ctx context.Context, n int, f func(context.Context) (mark string, err error)) error {
	return d.read(ctx, "reading", func(ctx context.Context) error {
		for {
			if mark, err := f(ctx); err != nil || n == 0 || d.fresh.add(mark) {
				return err
			}
			if err := d.writer.probe(ctx); err != nil {
				return err
			}
		}
	})
}

func (d *DB) load(ctx context.Context, ids []backend.PartID) (parts []backend.Part, mark string, err error) {
	scopes, names := idColumns(ids)
	var p backend.Part
	var keys, values [][]byte
	err = d.forEachRow(ctx, []any{&p.Version, &p.Data, &p.Changed, &keys, &values, &mark}, func() {
		p.ID, p.Values = ids[len(parts)], nil
		if len(keys) > 0 {
			p.Values = make(map[string][]byte, len(keys))
		}
		for i, k := range keys {
			p.Values[string(k)] = values[i]
		}
		if p.Version == 0 {
			p.Changed = time.Time{}
		}
		parts = append(parts, p)
		p.Data = nil
	}, loadSQL, scopes, names)
	return parts, mark, err
}

// idColumns returns the scopes and names of the IDs as separate slices, for use as query arguments.
func idColumns(ids []backend.PartID) (scopes []string, names [][]byte) {
	scopes, names = make([]string, len(ids)), make([][]byte, len(ids))
	for i, id := range ids {
		scopes[i], names[i] = string(id.Scope), []byte(id.Name)
	}
	return scopes, names
}

const versionsSQL = `SELECT coalesce(p.version, 0), coalesce(` + markSQL + `, '')` + eachPartSQL

// Versions implements [backend.Backend]. If a part of the state exists but is not fresh (see
// [freshParts]), Versions returns the negated version. The caller then reads the part again,
// because a negative version never matches.
func (d *DB) Versions(ctx context.Context, ids ...backend.PartID) (versions []int64, err error) {
	scopes, names := idColumns(ids)
	err = d.readCurrent(ctx, len(ids), func(ctx context.Context) (mark string, err error) {
		var v int64
		versions = nil
		err = d.forEachRow(ctx, []any{&v, &mark}, func() { versions = append(versions, v) }, versionsSQL, scopes, names)
		return mark, err
	})
	for i, v := range versions {
		if !d.fresh.has(ids[i]) {
			versions[i] = -v
		}
	}
	return versions, err
}

const (
	orderSQL = `SELECT id FROM petrigate_part WHERE scope = $1 AND position($2::bytea IN data) > 0 ORDER BY changed, id`
	listSQL  = `SELECT p.name, p.version, p.data, p.changed FROM unnest($1::bigint[]) WITH ORDINALITY AS a (id, n)
	JOIN petrigate_part p ON p.id = a.id ORDER BY a.n`
)

// List implements [backend.Backend]. It may omit parts of the state that are removed while it runs.
func (d *DB) List(ctx context.Context, s backend.Scope, text string) iter.Seq2[backend.Part, error] {
	return func(yield func(backend.Part, error) bool) {
		ids, err := d.listIDs(ctx, s, text)
		for some := range slices.Chunk(ids, backend.PageSize) {
			var parts []backend.Part
			if parts, err = d.listPage(ctx, s, some); err != nil {
				break
			}
			for _, p := range parts {
				if !yield(p, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(backend.Part{}, err)
		}
	}
}

// listIDs finds the parts of the state for [DB.List] and returns their row IDs, least recently
// changed first.
func (d *DB) listIDs(ctx context.Context, s backend.Scope, text string) (ids []int64, err error) {
	err = d.read(ctx, "listing in", func(ctx context.Context) error {
		var id int64
		ids = nil
		return d.forEachRow(ctx, []any{&id}, func() { ids = append(ids, id) }, orderSQL, string(s), []byte(text))
	})
	return ids, err
}

func (d *DB) listPage(ctx context.Context, s backend.Scope, ids []int64) (parts []backend.Part, err error) {
	err = d.read(ctx, "listing in", func(ctx context.Context) error {
		p := backend.Part{ID: backend.PartID{Scope: s}}
		var name []byte
		parts = nil
		return d.forEachRow(ctx, []any{&name, &p.Version, &p.Data, &p.Changed}, func() {
			p.ID.Name = string(name)
			parts = append(parts, p)
			p.Data = nil
		}, listSQL, ids)
	})
	return parts, err
}
