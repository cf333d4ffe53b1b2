package toolnet

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/diag"
)

// A NetError is an error in a net, in one of the policy's map statements (see [Map]) or in the
// policy's options.
type NetError struct {
	Net        string // name of the net; empty if the error is not in a net
	Transition string // name of the transition; empty if the error concerns the whole net
	Msg        string
	Hint       string // suggested correction; may be empty
	Rule       Position
}

// Error returns the position, net, transition, message and hint, omitting unknown parts.
func (e *NetError) Error() string {
	p := diag.At(diag.Position(e.Rule), e.Msg, e.Hint)
	p.Net = e.Net
	if e.Transition != "" {
		p.Msg = fmt.Sprintf("transition %q: %s", e.Transition, e.Msg)
	}
	return p.Error()
}

// An ErrorList contains all errors found, in the order of the nets.
type ErrorList []*NetError

// Error returns the messages of all errors, one per line.
func (l ErrorList) Error() string { return diag.Lines(l) }

// Unwrap returns the individual errors, for [errors.As].
func (l ErrorList) Unwrap() []error { return diag.Errors(l) }

// Err returns l as an error, or nil if l is empty.
func (l ErrorList) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// A Position is a file, line and column in one of the user's files. Line and Column are 1-based.
// The zero value is an unknown position.
type Position struct {
	File         string
	Line, Column int
}

// String formats the position as file:line:column, omitting unknown parts.
func (p Position) String() string { return diag.Position(p).String() }
