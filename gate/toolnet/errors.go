package toolnet

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/diag"
)

// A NetError is one mistake in a net, or in a map of the policy.
type NetError struct {
	Net        string // empty: it is about a map of the policy
	Transition string // empty: it is about the net as a whole
	Msg        string
	Hint       string // what to write instead; may be empty
	Rule       Position
}

// Error returns the position as far as it is known, the net, the transition, the
// message and the hint.
func (e *NetError) Error() string {
	p := diag.At(diag.Position(e.Rule), e.Msg, e.Hint)
	p.Net = e.Net
	if e.Transition != "" {
		p.Msg = fmt.Sprintf("transition %q: %s", e.Transition, e.Msg)
	}
	return p.Error()
}

// ErrorList has every mistake that was found, in the order of the nets.
type ErrorList []*NetError

// Error returns one line for each mistake.
func (l ErrorList) Error() string { return diag.Lines(l) }

// Unwrap returns the single errors for [errors.As].
func (l ErrorList) Unwrap() []error { return diag.Errors(l) }

// Err returns l as an error, or nil if it is empty.
func (l ErrorList) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}
