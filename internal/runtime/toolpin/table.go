package toolpin

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Table is a [Store] in a database, so that processes on several machines can share it. A
// definition accepted by one process is accepted for all of them.
type Table struct {
	database backend.Pins
	now      func() time.Time
	log      *slog.Logger
	pins     atomic.Pointer[map[key]Pin] // pins at the time of the last read; the map is replaced, never modified

	sem     chan struct{} // used as a mutex for the fields below
	pending []Pin         // pins from an earlier store, to import as soon as the database responds
	last    int64         // number of the last change that has been read
}

var _ Store = (*Table)(nil)

// NewTable returns a store in a database, which might be unreachable at first. As soon as the
// database responds, the given pins from an earlier store are imported for the tools that have no
// pin in the database.
func NewTable(database backend.Pins, before []Pin, now func() time.Time, log *slog.Logger) *Table {
	t := &Table{database: database, now: now, log: log, sem: make(chan struct{}, 1), pending: before}
	t.pins.Store(&map[key]Pin{})
	return t
}

// Register implements [Store].
func (t *Table) Register(ctx context.Context, server string, definitions []Definition) (left, err error) {
	if err := t.lock(ctx); err != nil {
		return nil, err
	}
	defer t.unlock()
	if _, err := t.read(ctx); err != nil {
		return nil, err
	}
	fresh, left := newPins(server, definitions, *t.pins.Load())
	if len(fresh) == 0 {
		return left, nil
	}
	rows := list.Map(fresh, func(d Definition) backend.Pin { return row(Pin{Definition: d, Since: t.now(), By: FirstSight}) })
	if _, err := t.database.AddPins(ctx, rows); err != nil {
		return left, err
	}
	_, err = t.read(ctx) // another process might have pinned one of the tools first
	return left, err
}

// Find implements [Store].
func (t *Table) Find(server, tool string) (Pin, bool) {
	p, ok := (*t.pins.Load())[key{server, tool}]
	return p, ok
}

// Accept implements [Store].
func (t *Table) Accept(ctx context.Context, d Definition, by string) error {
	if err := d.checkSize(); err != nil {
		return err
	}
	if err := t.lock(ctx); err != nil {
		return err
	}
	defer t.unlock()
	if err := t.database.PutPin(ctx, row(Pin{Definition: d, Since: t.now(), By: by})); err != nil {
		return err
	}
	if _, err := t.read(ctx); err != nil {
		return fmt.Errorf("it is accepted, and applies here once the database responds again: %w", err)
	}
	return nil
}

// Refresh implements [Store].
func (t *Table) Refresh(ctx context.Context) (changed bool, err error) {
	if err := t.lock(ctx); err != nil {
		return false, err
	}
	defer t.unlock()
	return t.read(ctx)
}

// lock waits for exclusive access to the table's fields.
func (t *Table) lock(ctx context.Context) error {
	select {
	case t.sem <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Table) unlock() { <-t.sem }

// read imports the pending pins into the database and then reads the changes since the last read.
// It reports whether the pins have changed. The caller must hold the lock.
func (t *Table) read(ctx context.Context) (changed bool, err error) {
	if err := t.importPins(ctx); err != nil {
		return false, err
	}
	rows, total, err := t.database.Pins(ctx, t.last)
	if err != nil {
		return false, err
	}
	pins := *t.pins.Load()
	if len(rows) == 0 && total == len(pins) {
		return false, nil
	}
	pins = maps.Clone(pins)
	last := apply(pins, rows, t.last)
	if len(pins) != total { // some pins have been removed, so read all pins again
		if rows, _, err = t.database.Pins(ctx, 0); err != nil {
			return false, err
		}
		pins = map[key]Pin{}
		last = apply(pins, rows, 0)
	}
	t.pins.Store(&pins)
	t.last = last
	return true, nil
}

// apply adds the rows, which are sorted by number, to the pins. It returns the number of the last
// row, or the given number if there are no rows.
func apply(pins map[key]Pin, rows []backend.Pin, last int64) int64 {
	for _, r := range rows {
		pins[key{r.Server, r.Tool}] = Pin{Definition: Definition{Server: r.Server, Tool: r.Tool, Text: r.Definition}, Since: r.Since, By: r.By}
		last = r.Number
	}
	return last
}

// importPins writes the pending pins to the database. The caller must hold the lock.
func (t *Table) importPins(ctx context.Context) error {
	if len(t.pending) == 0 {
		return nil
	}
	n, err := t.database.AddPins(ctx, list.Map(t.pending, row))
	if err != nil {
		return err
	}
	if t.pending = nil; n > 0 {
		t.log.Info("imported accepted tool definitions into the database", "tools", n)
	}
	return nil
}

func row(p Pin) backend.Pin {
	return backend.Pin{Server: p.Server, Tool: p.Tool, Definition: p.Text, Since: p.Since, By: p.By}
}
