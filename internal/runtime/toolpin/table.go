package toolpin

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A Table is a [Book] in a database that processes on several machines share. What they
// see first is what the first of them has written.
type Table struct {
	database backend.Pins
	now      func() time.Time
	log      *slog.Logger
	pins     atomic.Pointer[map[key]Pin] // as they were read last; a map never changes

	turn  chan struct{} // taken by who asks the database; guards the next two
	added []Pin         // to be taken over from elsewhere, when the database answers first
	last  int64         // number of the last change that was read
}

var _ Book = (*Table)(nil)

// NewTable returns the book in a database, which need not answer yet. When it does, the pins
// of before are taken over, as far as it has none of their tools.
func NewTable(database backend.Pins, before []Pin, now func() time.Time, log *slog.Logger) *Table {
	t := &Table{database: database, now: now, log: log, turn: make(chan struct{}, 1), added: before}
	t.pins.Store(&map[key]Pin{})
	return t
}

// Meet implements [Book].
func (t *Table) Meet(ctx context.Context, server string, definitions []Definition) (left, err error) {
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	defer t.end()
	if _, err := t.read(ctx); err != nil {
		return nil, err
	}
	fresh, left := fitting(server, definitions, *t.pins.Load())
	if len(fresh) == 0 {
		return left, nil
	}
	var rows []backend.Pin
	for _, d := range fresh {
		rows = append(rows, row(Pin{Definition: d, Since: t.now(), By: FirstSight}))
	}
	if _, err := t.database.AddPins(ctx, rows); err != nil {
		return left, err
	}
	_, err = t.read(ctx) // another process may have been faster, and have seen something else
	return left, err
}

// Find implements [Book].
func (t *Table) Find(server, tool string) (Pin, bool) {
	p, ok := (*t.pins.Load())[key{server, tool}]
	return p, ok
}

// Accept implements [Book].
func (t *Table) Accept(ctx context.Context, d Definition, by string) error {
	if err := d.small(); err != nil {
		return err
	}
	if err := t.begin(ctx); err != nil {
		return err
	}
	defer t.end()
	if err := t.database.PutPin(ctx, row(Pin{Definition: d, Since: t.now(), By: by})); err != nil {
		return err
	}
	if _, err := t.read(ctx); err != nil {
		return fmt.Errorf("it is accepted, and known here once the database answers again: %w", err)
	}
	return nil
}

// Refresh implements [Book].
func (t *Table) Refresh(ctx context.Context) (changed bool, err error) {
	if err := t.begin(ctx); err != nil {
		return false, err
	}
	defer t.end()
	return t.read(ctx)
}

// begin waits for the turn to ask the database.
func (t *Table) begin(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Table) end() { <-t.turn }

// read takes over what has changed in the database. The caller has the turn.
func (t *Table) read(ctx context.Context) (changed bool, err error) {
	if err := t.takeOver(ctx); err != nil {
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
	if len(pins) != total { // somebody has removed some
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

// apply puts the rows, which are in the order of their numbers, among the pins, and returns the last number.
func apply(pins map[key]Pin, rows []backend.Pin, last int64) int64 {
	for _, r := range rows {
		pins[key{r.Server, r.Tool}] = Pin{Definition: Definition{Server: r.Server, Tool: r.Tool, Text: r.Definition}, Since: r.Since, By: r.By}
		last = r.Number
	}
	return last
}

// takeOver writes the pins of before. The caller has the turn.
func (t *Table) takeOver(ctx context.Context) error {
	if len(t.added) == 0 {
		return nil
	}
	rows := make([]backend.Pin, 0, len(t.added))
	for _, p := range t.added {
		rows = append(rows, row(p))
	}
	n, err := t.database.AddPins(ctx, rows)
	if err != nil {
		return err
	}
	if t.added = nil; n > 0 {
		t.log.Info("accepted definitions of tools were taken over into the database", "tools", n)
	}
	return nil
}

func row(p Pin) backend.Pin {
	return backend.Pin{Server: p.Server, Tool: p.Tool, Definition: p.Text, Since: p.Since, By: p.By}
}
