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
	Number       int64  // number of the last change; it increases with each change
}

// Pins is implemented by a [Backend] that processes on several machines share.
type Pins interface {
	// Pins returns the pins whose numbers are greater than after, ordered by number, and the total
	// number of pins.
	Pins(ctx context.Context, after int64) (changed []Pin, total int, err error)

	// AddPins adds pins for tools that have none, and returns the number of pins that it added. If
	// several processes add a pin for the same tool, only one of them succeeds, and afterwards all
	// read the pin of that process.
	AddPins(ctx context.Context, pins []Pin) (added int, err error)

	// PutPin replaces a pin and wakes other processes; see [Backend.Changes].
	PutPin(ctx context.Context, p Pin) error
}
