package store

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

var _ backend.Pins = (*Late)(nil)

// errNoPins: the database does not implement [backend.Pins].
var errNoPins = errors.New("the state database stores no accepted tool definitions")

func (l *Late) pins(ctx context.Context) (backend.Pins, error) {
	b, err := l.opened(ctx)
	if err != nil {
		return nil, err
	}
	if pins, ok := b.(backend.Pins); ok {
		return pins, nil
	}
	return nil, errNoPins
}

// Pins implements [backend.Pins].
func (l *Late) Pins(ctx context.Context, after int64) (changed []backend.Pin, total int, err error) {
	pins, err := l.pins(ctx)
	if err != nil {
		return nil, 0, err
	}
	return pins.Pins(ctx, after)
}

// AddPins implements [backend.Pins].
func (l *Late) AddPins(ctx context.Context, all []backend.Pin) (added int, err error) {
	pins, err := l.pins(ctx)
	if err != nil {
		return 0, err
	}
	return pins.AddPins(ctx, all)
}

// PutPin implements [backend.Pins].
func (l *Late) PutPin(ctx context.Context, p backend.Pin) error {
	pins, err := l.pins(ctx)
	if err != nil {
		return err
	}
	return pins.PutPin(ctx, p)
}
