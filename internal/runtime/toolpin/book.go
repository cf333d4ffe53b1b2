package toolpin

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// FirstSight stands for who has accepted what was not known before.
const FirstSight = "first sight"

// What a server can make a book keep.
const (
	maxPins = 5000     // of one server
	maxText = 1 << 20  // bytes of one definition
	maxAll  = 16 << 20 // bytes of all definitions of one server
	maxName = 128      // bytes of the name of a tool; one that is longer cannot be called
	maxTold = 3        // definitions that a problem names
)

// A Pin is a definition that was accepted.
type Pin struct {
	Definition
	Since time.Time `json:"since"`
	By    string    `json:"by"` // who has accepted it
}

// A Book keeps pins where several processes use them. It is safe for concurrent use. It has
// them in memory: what another process has accepted is known after the next Meet, Accept or Refresh.
type Book interface {
	// Meet notes the tools of a server, all that it lists now: those that nobody has seen before
	// are accepted as they are. Those that were not are left because they are too large or too
	// many, as left says, or because the book could not be read or written, as err says.
	Meet(ctx context.Context, server string, definitions []Definition) (left, err error)

	// Find returns the definition of a tool that was accepted, as far as this process knows.
	Find(server, tool string) (Pin, bool)

	// Accept accepts a definition in the place of the one before.
	Accept(ctx context.Context, d Definition, by string) error

	// Refresh reads what other processes have accepted. It reports whether there was something.
	Refresh(ctx context.Context) (changed bool, err error)
}

type key struct{ server, tool string }

// fitting are those of the definitions that are not among the pins, as far as a server can make
// a book keep them, and why the others are not.
func fitting(server string, definitions []Definition, pins map[key]Pin) (fresh []Definition, left error) {
	count, size := 0, 0
	for at, p := range pins {
		if at.server == server {
			count, size = count+1, size+len(p.Text)
		}
	}
	var why []error
	told := map[string]bool{}
	for _, d := range definitions {
		if _, known := pins[key{server, d.Tool}]; known || told[d.Tool] {
			continue
		}
		told[d.Tool] = true
		err := d.small()
		switch {
		case err != nil:
		case count >= maxPins:
			err = fmt.Errorf("the server %s has named %d tools by now, and no more are kept", server, maxPins)
		case size+len(d.Text) > maxAll:
			err = fmt.Errorf("the definitions of the server %s have %d bytes by now, and at most %d are kept", server, size, maxAll)
		}
		if err != nil {
			why = append(why, err)
			continue
		}
		fresh, count, size = append(fresh, d), count+1, size+len(d.Text)
	}
	return fresh, bounded(why)
}

// bounded is one error of some, which does not tell all of many.
func bounded(all []error) error {
	var told []error
	said := map[string]bool{}
	for _, err := range all {
		if said[err.Error()] {
			continue
		}
		if said[err.Error()] = true; len(told) == maxTold {
			told = append(told, fmt.Errorf("and more: %d tools in all", len(all)))
			break
		}
		told = append(told, err)
	}
	return errors.Join(told...)
}
