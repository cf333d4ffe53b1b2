package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

var _ backend.Pins = (*DB)(nil)

// pinsPerStatement is the maximum number of pins that a statement reads or writes. A pin may be a
// megabyte in size.
const pinsPerStatement = 50

const (
	lockPinsSQL = `SELECT petrigate_pin_turn()`

	addPinsSQL = `INSERT INTO petrigate_pin (server, tool, definition, since, actor)
	SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::timestamptz[], $5::bytea[]) ON CONFLICT DO NOTHING`

	putPinSQL = `INSERT INTO petrigate_pin (server, tool, definition, since, actor) VALUES ($1, $2, $3, $4, $5)
	ON CONFLICT (server, tool) DO UPDATE SET number = DEFAULT, definition = excluded.definition, since = excluded.since, actor = excluded.actor`

	// pinsSQL returns at least one row, so that the total number of pins is known even if no pin
	// has changed.
	pinsSQL = `SELECT c.total, coalesce(p.number, 0), coalesce(p.server, ''), coalesce(p.tool, ''), p.definition, coalesce(p.since, 'epoch'), coalesce(p.actor, '')
	FROM (SELECT count(*) AS total FROM petrigate_pin) c
	LEFT JOIN petrigate_pin p ON p.number > $1
	ORDER BY p.number LIMIT $2`
)

// Pins implements [backend.Pins].
func (d *DB) Pins(ctx context.Context, after int64) (changed []backend.Pin, total int, err error) {
	for {
		var page []backend.Pin
		if page, total, err = d.pinsAfter(ctx, after); err != nil {
			return nil, 0, err
		}
		changed = append(changed, page...)
		if len(page) < pinsPerStatement {
			return changed, total, nil
		}
		after = page[len(page)-1].Number
	}
}

func (d *DB) pinsAfter(ctx context.Context, after int64) (page []backend.Pin, total int, err error) {
	err = d.read(ctx, "reading the accepted tool definitions in", func(ctx context.Context) error {
		var p backend.Pin
		var server, tool, actor []byte
		page = nil
		return d.forEachRow(ctx, []any{&total, &p.Number, &server, &tool, &p.Definition, &p.Since, &actor}, func() {
			if p.Server, p.Tool, p.By = string(server), string(tool), string(actor); p.Number > 0 {
				page = append(page, p)
			}
			p.Definition = nil
		}, pinsSQL, after, pinsPerStatement)
	})
	return page, total, err
}

// AddPins implements [backend.Pins].
func (d *DB) AddPins(ctx context.Context, pins []backend.Pin) (added int, err error) {
	for some := range slices.Chunk(pins, pinsPerStatement) {
		n := 0
		err := d.writePins(ctx, func(ctx context.Context, tx pgx.Tx) error {
			var servers, tools, definitions, actors [][]byte
			var since []time.Time
			for _, p := range some {
				servers, tools, actors = append(servers, []byte(p.Server)), append(tools, []byte(p.Tool)), append(actors, []byte(p.By))
				definitions, since = append(definitions, p.Definition), append(since, p.Since)
			}
			tag, err := tx.Exec(ctx, addPinsSQL, servers, tools, definitions, since, actors)
			n = int(tag.RowsAffected())
			return err
		})
		if err != nil {
			return added, err
		}
		added += n
	}
	return added, nil
}

// PutPin implements [backend.Pins].
func (d *DB) PutPin(ctx context.Context, p backend.Pin) error {
	err := d.writePins(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, putPinSQL, []byte(p.Server), []byte(p.Tool), p.Definition, p.Since, []byte(p.By))
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE petrigate_change SET n = n + 1`)
		}
		return err
	})
	if err == nil {
		d.notify(ctx)
	}
	return err
}

// writePins runs f in a transaction while no other process writes pins.
func (d *DB) writePins(ctx context.Context, f func(context.Context, pgx.Tx) error) error {
	return d.read(ctx, "storing accepted tool definitions in", func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, lockPinsSQL); err != nil {
				return err
			}
			return f(ctx, tx)
		})
	})
}
