package admission

import (
	"context"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Stop describes one use of the kill switch. The calls that it covers are not admitted.
type Stop struct {
	Session string // session whose calls are stopped; empty: all sessions
	Actor   string // who used the switch
	Reason  string // empty: no reason given
	Time    time.Time
	Alone   bool // the database has not stored the stop, so it applies only to this process
}

// Switched is the result of using the kill switch.
type Switched struct {
	Already bool   // the switch was already in the requested position
	Left    []Stop // stops in force now, oldest first

	// Alone is the reason why the change could not be stored, so that only this process knows the
	// change. A new stop applies to this process and is stored as soon as possible. An ended stop
	// has ended in this process, but it may still be in a database that did not answer.
	Alone error
}

// Switch is the kill switch. It is safe for concurrent use.
type Switch interface {
	// Stopped returns the stop that covers the session's calls, as far as this process knows, or
	// nil. It does not block.
	Stopped(session string) *Stop

	// Stops returns the stops, oldest first. If it returns an error, the result contains only the
	// stops that this process knows.
	Stops(ctx context.Context) ([]Stop, error)

	// Set adds a stop if on is true. Otherwise it ends the stop for the session, or for all
	// sessions if the session is empty. It records the event. When Set returns, a new stop applies
	// to this process even if there is an error.
	Set(ctx context.Context, s Stop, on bool, e audit.Event) (Switched, error)
}

// ErrStopped is the error for an admission whose session is stopped.
var ErrStopped = backend.ErrStopped

// sentence explains the stop to a model.
func (s *Stop) sentence() string {
	what := "the calls of this session"
	if s.Session == "" {
		what = "all calls"
	}
	if s.Reason != "" {
		what += " (" + audit.Bounded(strings.TrimRight(s.Reason, ". \n")) + ")"
	}
	return "Stopped: an operator has stopped " + what + ". Nothing was called and nothing was spent. Calling again does not help until an operator starts the calls again (petrigate start)."
}
