package admission

import (
	"context"
	"iter"
	"time"
)

// Open begins a session, or continues an existing one.
func (a *Admission) Open(ctx context.Context, s SessionInfo) error {
	if err := a.ledger.Open(ctx, s); err != nil {
		return err
	}
	a.recordSession(ctx, "session opened", s.Key, s.Since)
	return nil
}

// Find returns the description of a session of any process, or [ErrNoSession].
func (a *Admission) Find(ctx context.Context, session string) (SessionInfo, error) {
	return a.ledger.Find(ctx, session)
}

// Sessions lists the open sessions of all processes, and the ended sessions with open calls.
func (a *Admission) Sessions(ctx context.Context) iter.Seq2[SessionInfo, error] {
	return a.ledger.Sessions(ctx)
}

// Touch marks a session as in use for other processes.
func (a *Admission) Touch(ctx context.Context, k Key, now time.Time) error {
	return a.ledger.Touch(ctx, k, now)
}

// End ends a session and drops its counts. Its open calls can still be settled.
func (a *Admission) End(ctx context.Context, k Key) error {
	a.counts.forget(k.Session)
	a.recordSession(ctx, "session closed", k, a.now())
	if a.onEnd != nil {
		a.onEnd(k.Session)
	}
	return a.ledger.End(ctx, k)
}
