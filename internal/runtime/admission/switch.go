package admission

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Stop is a use of the kill switch: the calls that it covers are not admitted.
type Stop struct {
	Session string // session of the calls; empty: all sessions
	Actor   string // who used the switch
	Reason  string // empty: none given
	Time    time.Time
	Alone   bool // the database has not stored the stop: it applies only to this process
}

// Switched is the result of using the kill switch.
type Switched struct {
	Already bool   // nothing has changed
	Left    []Stop // stops in force now, the oldest first

	// Alone is why the use could not be written, so that only this process knows it. A stop applies
	// to this process and is written as soon as possible. The end of a stop has ended the stop in
	// this process; a database that did not answer may still have one.
	Alone error
}

// Switch is the kill switch. It is safe for concurrent use.
type Switch interface {
	// Stopped returns the stop that covers the calls of a session, as far as this process knows;
	// nil: none. It does not block.
	Stopped(session string) *Stop

	// Stops returns the stops, the oldest first. With an error it returns those that this process
	// knows.
	Stops(ctx context.Context) ([]Stop, error)

	// Set adds a stop, or, if on is false, ends the stop of the session (or of all sessions), and
	// records the event. When Set returns, a stop always applies to this process.
	Set(ctx context.Context, s Stop, on bool, e audit.Event) (Switched, error)
}

// ErrStopped is the error of an admission while its session is stopped.
var ErrStopped = errors.New("stopped by an operator")

// sentence returns the explanation of a stop for a model.
func (s *Stop) sentence() string {
	var b strings.Builder
	b.WriteString("Stopped: an operator has stopped ")
	if s.Session == "" {
		b.WriteString("all calls")
	} else {
		b.WriteString("the calls of this session")
	}
	if s.Reason != "" {
		b.WriteString(" (" + audit.Bounded(strings.TrimRight(s.Reason, ". \n")) + ")")
	}
	b.WriteString(". Nothing was called and nothing was spent. Calling again does not help until an operator starts the calls again (petrigate start).")
	return b.String()
}
