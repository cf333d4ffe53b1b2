package gate

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A Session holds the state of every net of a policy for one conversation.
// It is safe for concurrent use.
type Session struct {
	policy *Policy              // never changes
	shared []*Shared            // in the order of locking; never changes
	told   func(Call, Decision) // of each decision; never changes

	spare atomic.Pointer[preparedCall] // clear; space for the next decision, if no other has it

	mu    sync.Mutex
	state *State // accessed only in update
}

// SessionOptions configure a session. The zero value is ready to use.
type SessionOptions struct {
	Active []string // the nets that are active at the start; nil: all; unknown names are ignored

	// Time is the start of the session, and of its clocks. If it is zero, the clock of
	// a net starts with the first call that concerns the net.
	Time time.Time

	// Principal and Global have the nets of these scopes, see [NewShared]. If one is
	// nil, the session has such nets for itself.
	Principal, Global *Shared

	// OnDecision receives each decision, also in shadow, where [Allow].Would has the
	// other answer. It runs after the decision, before Decide returns, without a lock.
	// It must not settle the ticket of an Allow: that is the duty of the caller.
	OnDecision func(Call, Decision)
}

// NewSession returns a session in the initial state. Its shared nets must be of the
// same policy and of the right scope.
func NewSession(p *Policy, o SessionOptions) *Session {
	s := &Session{policy: p, told: o.OnDecision, state: p.NewState(o.Active)}
	s.share(ScopePrincipal, o.Principal)
	s.share(ScopeGlobal, o.Global)
	s.Tick(o.Time)
	return s
}

// share gives the session the nets of that scope from h.
func (s *Session) share(scope Scope, h *Shared) {
	switch {
	case h == nil:
	case h.policy != s.policy || h.scope != scope:
		panic("gate: a session is to share the state of another policy or scope")
	case len(h.nets) > 0:
		s.shared = append(s.shared, h)
		s.state.Owners[scope] = h.join()
	}
}

// update runs f on the state under the lock and applies the delta that it returns.
// Every read and write of the state goes through here; f must not block.
func (s *Session) update(f func(*State) *Delta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	updateShared(s.shared, s.state, f)
}

// read returns what f reads from the state.
func read[T any](s *Session, f func(*State) T) (got T) {
	s.update(func(state *State) *Delta {
		got = f(state)
		return nil
	})
	return got
}

// Decide answers c on the present state: an [Allow] with a ticket, a [Refusal], or an [Ask].
// It never waits. With the answer to an Ask, call it again with the grant.
//
// A grant is good for one admission of the call that was asked about. The
// arguments of c must not change while the call is open.
func (s *Session) Decide(c Call, g *Grant) (d Decision) {
	prepared := s.spare.Swap(nil)
	if prepared == nil {
		prepared = &preparedCall{}
	}
	prepared.call = c
	prepared.name(s.policy, &prepared.call)
	s.update(func(state *State) (delta *Delta) {
		d, delta = prepared.Decide(state, g)
		return delta
	})
	prepared.clear()
	prepared.call = Call{}
	s.spare.Store(prepared)
	if a, ok := d.(*Allow); ok {
		a.Ticket.session = s
	}
	s.tell(c, d)
	return d
}

// tell passes a decision to OnDecision.
func (s *Session) tell(c Call, d Decision) {
	if s.told != nil {
		s.told(c, d)
	}
}

// Withdraw ends a waiting call that will not be decided again.
func (s *Session) Withdraw(a *Ask) {
	s.update(func(*State) *Delta { return a.Withdraw() })
}

// Tick moves the clocks to a time. Decide and Classify do so themselves for the nets
// that they ask; call Tick before reading the state of nets with a clock. The zero
// time has no effect.
func (s *Session) Tick(now time.Time) {
	s.update(func(state *State) *Delta { return s.policy.Tick(state, now) })
}

// Settle is [Ticket.Settle] for a call known by its number.
func (s *Session) Settle(number uint64, o Outcome) (changed bool) {
	return s.SettleAt(number, o, time.Time{})
}

// SettleAt is [Ticket.SettleAt] for a call known by its number.
func (s *Session) SettleAt(number uint64, o Outcome, t time.Time) (changed bool) {
	return s.End(number, End{Outcome: o, Time: t})
}

// End is [Ticket.End] for a call known by its number.
func (s *Session) End(number uint64, e End) (changed bool) {
	prepared := s.policy.PrepareEnd(e)
	s.update(func(state *State) *Delta {
		d := prepared.Settle(state, number)
		changed = d != nil
		return d
	})
	return changed
}

// A Ticket is the duty to settle an admitted call.
type Ticket struct {
	Number  uint64
	Awaited bool // the outcome moves some net
	session *Session
}

// Settle says how the call ended. Only the first of Success and Failure counts;
// after Unknown the call stays open and can still be settled.
// It reports whether it changed anything.
func (t *Ticket) Settle(o Outcome) bool { return t.session.Settle(t.Number, o) }

// SettleAt is Settle with the time at which the call ended. Nets with a clock that
// wait for outcomes need it: without it, a clock whose tokens the outcome changes
// starts again, late rather than early.
func (t *Ticket) SettleAt(o Outcome, ended time.Time) bool {
	return t.session.SettleAt(t.Number, o, ended)
}

// End is SettleAt with all that is known of the end.
func (t *Ticket) End(e End) bool { return t.session.End(t.Number, e) }

// Close settles as [Unknown] unless the call is settled.
func (t *Ticket) Close() { t.Settle(Unknown) }

// Classify is [Policy.Classify] on the present state.
func (s *Session) Classify(c Call) (vs []Verdict) {
	return read(s, func(state *State) []Verdict { return s.policy.Classify(state, c) })
}

// Reset is [Policy.Reset] of the session; for what it shares, see [Shared.Reset].
func (s *Session) Reset() {
	s.update(s.policy.Reset)
}

// Open lists the calls that were admitted and not settled, oldest first.
func (s *Session) Open() (open []Holder) { return read(s, (*State).Open) }

// Confirm decides a call for a caller that can wait: if a person must be asked, it
// calls ask, and decides again with the answer. The result is an [Allow] or a
// [Refusal].
//
// Only true without an error approves, and only if ctx is not done by then. It is the
// approval of one person: a call that needs several is refused, see [ConfirmN].
// With a nil ask there is nobody to ask. No lock is held while ask runs.
func Confirm(ctx context.Context, s *Session, c Call, ask func(context.Context, *Ask) (bool, error)) Decision {
	if ask == nil {
		return ConfirmN(ctx, s, c, nil)
	}
	return ConfirmN(ctx, s, c, func(ctx context.Context, a *Ask) (int, error) {
		yes, err := ask(ctx, a)
		if !yes {
			return 0, err
		}
		return 1, err
	})
}

// ConfirmN is [Confirm] where ask returns how many different persons approve. The call
// passes if they are at least [Ask.Approvals]. That they are different, and none of
// them counted twice, is the duty of ask.
func ConfirmN(ctx context.Context, s *Session, c Call, ask func(context.Context, *Ask) (int, error)) Decision {
	d := s.Decide(c, nil)
	a, ok := d.(*Ask)
	if !ok {
		return d
	}
	defer s.Withdraw(a) // also if ask panics; has no effect after an admission
	if ask != nil {
		if n, err := ask(ctx, a); err == nil && n >= a.Approvals() && ctx.Err() == nil {
			return s.Decide(c, a.Grant())
		}
	}
	r := a.Refusal()
	s.tell(c, r)
	return r
}
