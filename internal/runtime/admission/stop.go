package admission

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A Stop is a use of the kill switch: no call is admitted.
type Stop struct {
	Session string // whose calls; empty: all
	Actor   string // who stopped them
	Reason  string // empty: none was given
	Time    time.Time
	Alone   bool // the database has not taken it: it holds in this process alone
}

// Switched is what became of a use of the kill switch.
type Switched struct {
	Already bool   // it was so before, and nothing was changed
	Left    []Stop // what is stopped now, the oldest first

	// Alone is why the use is known to this process alone: it could not be written. A stop
	// holds here, and is written once that is possible. The end of a stop has ended what
	// held here alone; a database that did not answer may have a stop of its own.
	Alone error
}

// A Switch is the kill switch. It is safe for concurrent use.
type Switch interface {
	// Stopped returns the stop that the calls of a session are under, as far as this
	// process knows; nil: there is none. It waits for nobody.
	Stopped(session string) *Stop

	// Stops returns the stops, oldest first. With an error it returns those that this
	// process knows.
	Stops(ctx context.Context) ([]Stop, error)

	// Set uses the switch, or, where on is false, ends the stop of the session (or of all),
	// and puts the event on record. A stop always holds in this process when Set returns.
	Set(ctx context.Context, s Stop, on bool, e audit.Event) (Switched, error)
}

// ErrStopped is the error of a step that admits a call while that is stopped.
var ErrStopped = errors.New("stopped by an operator")

// Stops returns the stops, oldest first. With an error it returns those that this process
// knows.
func (a *Admission) Stops(ctx context.Context) ([]Stop, error) {
	if a.kill == nil {
		return nil, nil
	}
	return a.kill.Stops(ctx)
}

// SetStopped stops all calls that are not admitted yet, or those of a session, or ends
// that.
func (a *Admission) SetStopped(ctx context.Context, on bool, s Stop) (Switched, error) {
	if a.kill == nil {
		return Switched{}, errors.New("this proxy has no kill switch")
	}
	name := "start"
	if on {
		name = "stop"
	}
	s.Time = a.now()
	done, err := a.kill.Set(ctx, s, on, audit.Operator{Time: s.Time, Event: name, Session: s.Session, Actor: s.Actor, Reason: audit.Bounded(s.Reason)})
	if err == nil && !done.Already {
		a.log.Warn("operator", logkind.Operator, "event", name, "session", s.Session, "actor", s.Actor, "reason", s.Reason)
	}
	if done.Alone != nil {
		a.log.Error("the use of the kill switch could not be written: it is known to this process alone", "event", name, "session", s.Session, "error", done.Alone)
	}
	return done, err
}

// Stopped returns the stop that the calls of a session are under, as far as this process
// knows; nil: they are not stopped.
func (a *Admission) Stopped(session string) *Stop {
	if a.kill == nil {
		return nil
	}
	return a.kill.Stopped(session)
}

// refuseStopped refuses a call that is stopped.
func (a *Admission) refuseStopped(ctx context.Context, c *Call) *Refused {
	s := a.Stopped(c.Session)
	if s == nil { // another process stopped it just now
		s = &Stop{}
	}
	r := Refuse("stopped", s.sentence())
	a.Refused(ctx, c, r)
	return r
}

// sentence says for a model what a stop means.
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
	b.WriteString(". Nothing was called and nothing was spent. Calling again does not help until a person starts it again (petrigate start).")
	return b.String()
}
