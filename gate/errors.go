package gate

import (
	"strconv"
	"strings"

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
	var b strings.Builder
	if pos := e.Rule.String(); pos != "" {
		b.WriteString(pos + ": ")
	}
	if e.Net != "" {
		b.WriteString("net " + strconv.Quote(e.Net) + ": ")
	}
	if e.Transition != "" {
		b.WriteString("transition " + strconv.Quote(e.Transition) + ": ")
	}
	b.WriteString(e.Msg)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// ErrorList has every mistake that [NewPolicy] found, in the order of the nets.
type ErrorList []*NetError

// Error returns one line for each mistake.
func (l ErrorList) Error() string { return diag.Lines(l) }

// Unwrap returns the single errors for [errors.As].
func (l ErrorList) Unwrap() []error { return diag.Errors(l) }

// err returns l as an error, or nil if it is empty.
func (l ErrorList) err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}
