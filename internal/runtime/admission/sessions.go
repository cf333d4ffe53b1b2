package admission

import (
	"context"
	"iter"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Sessions opens, finds and ends sessions.
type Sessions struct{ admission *Admission }

// Open starts a session, or continues an existing one.
func (s *Sessions) Open(ctx context.Context, i SessionInfo) error {
	if err := s.admission.ledger.Open(ctx, i); err != nil {
		return err
	}
	s.record(ctx, "session opened", i.Key, i.Since)
	return nil
}

// Find returns the description of a session, whichever process opened it. If the session does not
// exist, the error is [ErrNoSession].
func (s *Sessions) Find(ctx context.Context, session string) (SessionInfo, error) {
	return s.admission.ledger.Find(ctx, session)
}

// List returns the open sessions of all processes, and ended sessions that still have open calls.
func (s *Sessions) List(ctx context.Context) iter.Seq2[SessionInfo, error] {
	return s.admission.ledger.Sessions(ctx)
}

// Touch tells other processes that the session is in use.
func (s *Sessions) Touch(ctx context.Context, k Key, now time.Time) error {
	return s.admission.ledger.Touch(ctx, k, now)
}

// End ends a session and discards its [Counts]. Calls that are still open can be settled later.
func (s *Sessions) End(ctx context.Context, k Key) error {
	a := s.admission
	a.counts.forget(k.Session)
	s.record(ctx, "session closed", k, a.now())
	if a.onEnd != nil {
		a.onEnd(k.Session)
	}
	return a.ledger.End(ctx, k)
}

// record records the start or end of a session.
func (s *Sessions) record(ctx context.Context, event string, k Key, at time.Time) {
	a := s.admission
	a.note(ctx, audit.Session{Time: at, Event: event, Session: k.Session, Principal: k.Principal, Process: a.records.process})
}
