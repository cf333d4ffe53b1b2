package admission

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Stops returns the stops, the oldest first. With an error it returns those that this process
// knows.
func (a *Admission) Stops(ctx context.Context) ([]Stop, error) {
	if a.kill == nil {
		return nil, nil
	}
	return a.kill.Stops(ctx)
}

// SetStopped stops all calls that are not admitted yet, or those of a session, or ends such a stop.
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
		a.log.Error("could not store the stop: only this process knows of it", "event", name, "session", s.Session, "error", done.Alone)
	}
	return done, err
}

// Stopped returns the stop that covers the calls of a session, as far as this process knows; nil:
// none.
func (a *Admission) Stopped(session string) *Stop {
	if a.kill == nil {
		return nil
	}
	return a.kill.Stopped(session)
}

// refuseStopped refuses a call that is stopped.
func (a *Admission) refuseStopped(ctx context.Context, c *Call) *Refused {
	s := a.Stopped(c.Session)
	if s == nil { // another process has just stopped the session
		s = &Stop{}
	}
	r := Refuse("stopped", s.sentence())
	a.Refused(ctx, c, r)
	return r
}
