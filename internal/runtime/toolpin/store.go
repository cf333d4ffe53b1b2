package toolpin

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// FirstSight is the value of Pin.By for definitions that were accepted automatically because the
// tool was new.
const FirstSight = "first sight"

// Pin is an accepted tool definition.
type Pin struct {
	Definition
	Since time.Time `json:"since"`
	By    string    `json:"by"` // the person who accepted the definition, or FirstSight
}

// Store keeps the pins of several processes. It is safe for concurrent use. Pins are cached in
// memory: a pin accepted by another process becomes known at the next Register, Accept or Refresh.
type Store interface {
	// Register accepts a server's definitions of tools that have no pin yet. The error left
	// describes the definitions that were not accepted because they exceed a limit. The error err
	// means that the store could not be read or written; definitions that could not be stored are
	// not accepted.
	Register(ctx context.Context, server string, definitions []Definition) (left, err error)

	// Find returns the pin of a tool if this process knows it.
	Find(server, tool string) (Pin, bool)

	// Accept makes d the pin of its tool, and records who accepted it. If the tool already has a
	// pin, Accept replaces it.
	Accept(ctx context.Context, d Definition, by string) error

	// Refresh reads pins accepted by other processes. It reports whether any pin has changed.
	Refresh(ctx context.Context) (changed bool, err error)
}

type key struct{ server, tool string }

// newPins returns the definitions that have no pin and are within the limits. Its error describes
// the definitions that exceed the limits.
func newPins(server string, definitions []Definition, pins map[key]Pin) (fresh []Definition, left error) {
	count, size := 0, 0
	for at, p := range pins {
		if at.server == server {
			count, size = count+1, size+len(p.Text)
		}
	}
	var why []error
	seen := map[string]bool{}
	for _, d := range definitions {
		if _, known := pins[key{server, d.Tool}]; known || seen[d.Tool] {
			continue
		}
		seen[d.Tool] = true
		err := d.checkSize()
		switch {
		case err != nil:
		case count >= maxPins:
			err = fmt.Errorf("the server %s has named %d tools so far, the most that petrigate stores", server, maxPins)
		case size+len(d.Text) > maxAll:
			err = fmt.Errorf("the definitions of the server %s have %d bytes so far; the limit is %d", server, size, maxAll)
		}
		if err != nil {
			why = append(why, err)
			continue
		}
		fresh, count, size = append(fresh, d), count+1, size+len(d.Text)
	}
	return fresh, joinErrors(why)
}

// joinErrors joins the first few errors, without duplicates. If there are more, it adds the number
// of all errors.
func joinErrors(all []error) error {
	var named []error
	seen := map[string]bool{}
	for _, err := range all {
		if seen[err.Error()] {
			continue
		}
		if seen[err.Error()] = true; len(named) == maxTold {
			named = append(named, fmt.Errorf("and more: %d tools in all", len(all)))
			break
		}
		named = append(named, err)
	}
	return errors.Join(named...)
}
