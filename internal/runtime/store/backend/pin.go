package backend

import (
	"context"
	"time"
)

// Pin is the accepted definition of a server's tool.
type Pin struct {
	Server, Tool string
	Definition   []byte
	Since        time.Time
	By           string // the person who accepted the definition
	Number       int64  // number of the pin's last change; each change gets a greater number
}

// Pins is implemented by a [Backend] that processes on several machines can share.
type Pins interface {
	// Pins returns the pins with numbers greater than the given one, ordered by number, and the
	// total number of pins.
	Pins(ctx context.Context, after int64) (changed []Pin, total int, err error)

	// AddPins adds pins for tools that have no pin yet, and returns how many it added. If several
	// processes add a pin for the same tool, only the first one is added, and all processes then
	// read that pin.
	AddPins(ctx context.Context, pins []Pin) (added int, err error)

	// PutPin replaces a pin and wakes other processes; see [Backend.Changes].
	PutPin(ctx context.Context, p Pin) error
}
