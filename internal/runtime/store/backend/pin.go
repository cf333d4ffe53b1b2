package backend

import (
	"context"
	"time"
)

// A Pin is what a server says of a tool, as it was accepted.
type Pin struct {
	Server, Tool string
	Definition   []byte
	Since        time.Time
	By           string // who has accepted it
	Number       int64  // of the change that made it what it is: a later one has a greater number
}

// Pins are in a [Backend] that processes on several machines share.
type Pins interface {
	// Pins reads the pins with greater numbers than after, in the order of these, and counts all
	// that there are.
	Pins(ctx context.Context, after int64) (changed []Pin, total int, err error)

	// AddPins writes pins of tools that have none, and says how many that were. Of several that
	// add a pin of one tool at once, one does, and all of them read that afterwards.
	AddPins(ctx context.Context, pins []Pin) (added int, err error)

	// PutPin writes a pin in the place of the one before, and wakes other processes; see
	// [Backend.Changes].
	PutPin(ctx context.Context, p Pin) error
}
