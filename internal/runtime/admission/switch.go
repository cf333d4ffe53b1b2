package admission

import (
	"context"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Stop describes one activation of the kill switch. While a stop is in force, the calls that it
// covers are not admitted.
type Stop struct {
	Session string // the session to stop; empty means all sessions
	Actor   string // name of the person who issued the stop
	Reason  string // reason for the stop; may be empty
	Time    time.Time
	Alone   bool // whether the stop is missing from the database, so that it affects only this process
}

// Switched is the result of [Switch.Set].
type Switched struct {
	Already bool   // whether there was nothing to change
	Left    []Stop // stops that are now in force, oldest first

	// Alone is the error from saving the change, or nil. If it is not nil, the change may have
	// taken effect only in this process. A new stop will be saved later if the proxy has a
	// database. A stop that was ended might still be in the database.
	Alone error
}

// Switch is the kill switch. It is safe for concurrent use.
type Switch interface {
	// Stopped returns the stop that covers the session, or nil if this process knows of none. It
	// does not block.
	Stopped(session string) *Stop

	// Stops returns the stops in force, oldest first. If it also returns an error, the list
	// contains only the stops known to this process.
	Stops(ctx context.Context) ([]Stop, error)

	// Set adds the stop s if on is true. Otherwise it ends the stop for s.Session, or the stop for
	// all sessions if s.Session is empty. It also records the event e. A new stop applies to this
	// process when Set returns, even if Set returns an error.
	Set(ctx context.Context, s Stop, on bool, e audit.Event) (Switched, error)
}

// ErrStopped means that a call cannot be admitted because its session is stopped.
var ErrStopped = backend.ErrStopped

// sentence explains the stop to a model in one sentence.
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
