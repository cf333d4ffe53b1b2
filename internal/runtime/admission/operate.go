package admission

import (
	"context"
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Snapshot returns a copy of a session's state, with the clocks advanced to the current time. The
// caller owns the copy. If the session does not exist, Snapshot returns the state of a new session;
// see [Ledger.View].
func (a *Admission) Snapshot(ctx context.Context, k Key) (*gate.State, error) {
	a.Unwritten.catchUp(ctx)
	var s *gate.State
	err := a.ledger.View(ctx, k, func(state *gate.State) { s = state.Clone() })
	if err != nil {
		return nil, err
	}
	s.Apply(s.Policy().Tick(s, a.now()))
	return s, nil
}

// FreshState returns the state that a new session would have, including the state that it would
// share with existing sessions. If all existing sessions belong to the same principal, the new
// session is assumed to belong to that principal too.
func (a *Admission) FreshState(ctx context.Context) (*gate.State, error) {
	only, sessions, several := "", 0, false
	for s, err := range a.ledger.Sessions(ctx) {
		if err != nil {
			return nil, err
		}
		several = several || sessions > 0 && only != s.Principal
		only = s.Principal
		sessions++
	}
	if several {
		only = ""
	}
	return a.Snapshot(ctx, Key{Principal: only})
}

// Reset puts all nets of a session into their initial states on behalf of an operator.
func (a *Admission) Reset(ctx context.Context, k Key, actor string) error {
	return a.operate(ctx, k, audit.Operator{Event: "reset", Actor: actor}, func(s *gate.State) (*gate.Delta, error) {
		return s.Policy().Reset(s), nil
	})
}

// SettleOpen settles an open call, usually one whose outcome is unknown, on behalf of an operator.
// The outcome becomes a success if success is true, and a failure otherwise. An open call can
// represent further calls (see [gate.OpenCall.More]), which get the same outcome. If the session
// has no such call, SettleOpen returns an error.
func (a *Admission) SettleOpen(ctx context.Context, k Key, number uint64, success bool, actor string) error {
	o, name := gate.Failure, "settle failure"
	if success {
		o, name = gate.Success, "settle success"
	}
	now := a.now()
	return a.operate(ctx, k, audit.Operator{Event: name, Call: number, Actor: actor}, func(s *gate.State) (*gate.Delta, error) {
		d := s.Policy().End(s, number, gate.End{Outcome: o, Time: now, All: true})
		if d == nil {
			return nil, fmt.Errorf("session %s has no open call #%d", k.Session, number)
		}
		return d, nil
	})
}

// operate changes a session's state on behalf of an operator, and records and logs the event. The
// function f computes the change.
func (a *Admission) operate(ctx context.Context, k Key, event audit.Operator, f func(*gate.State) (*gate.Delta, error)) error {
	a.Unwritten.catchUp(ctx)
	event.Time, event.Session = a.now(), k.Session
	err := Update(ctx, a.ledger, k, func(s *gate.State) (Change, error) {
		d, err := f(s)
		if err != nil {
			return Change{}, err
		}
		return Change{Delta: d, Events: []audit.Event{event}}, nil
	})
	if err == nil {
		a.log.Warn("operator", logkind.Operator, "event", event.Event, "session", k.Session, "call", event.Call, "actor", event.Actor)
	}
	return err
}

// Note logs and records an operator's action that leaves the state of the nets unchanged.
func (a *Admission) Note(ctx context.Context, event, session, actor, reason string) error {
	a.log.Warn("operator", logkind.Operator, "event", event, "session", session, "actor", actor, "reason", reason)
	return a.Append(ctx, audit.Operator{Time: a.now(), Event: event, Session: session, Actor: actor, Reason: audit.Bounded(reason)})
}

// Stops returns the stops in force, oldest first. If it also returns an error, the list contains
// only the stops known to this process.
func (a *Admission) Stops(ctx context.Context) ([]Stop, error) {
	if a.kill == nil {
		return nil, nil
	}
	return a.kill.Stops(ctx)
}

// SetStopped stops one session or all sessions, or ends such a stop. While a session is stopped,
// its calls are not admitted, and its admitted calls are not sent again.
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
		a.log.Error("could not save the stopped state: it applies to this process only", "event", name, "session", s.Session, "error", done.Alone)
	}
	return done, err
}
