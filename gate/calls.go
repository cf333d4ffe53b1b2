package gate

import (
	"context"
	"time"
)

// Decide decides whether the call c may proceed in the current state. It returns an [Allow] with a
// ticket, a [Refusal], or an [Ask]. It never waits. Once people have approved an Ask, call Decide
// again with its grant.
//
// A grant can be used only once, and only for a call with the same tool and arguments as the
// approved call. The caller must not modify the arguments of c while the call is open.
func (s *Session) Decide(c Call, g *Grant) (d Decision) {
	prepared := s.spare.Swap(nil)
	if prepared == nil {
		prepared = &preparedCall{}
	}
	prepared.call = c
	prepared.judgement.name(s.policy, &prepared.call)
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
	s.notify(c, d)
	return d
}

// notify passes a decision to s.onDecision, if set.
func (s *Session) notify(c Call, d Decision) {
	if s.onDecision != nil {
		s.onDecision(c, d)
	}
}

// Withdraw withdraws the approval request a, so that the call no longer waits for an answer. Use it
// if Decide will not be called again for the call.
func (s *Session) Withdraw(a *Ask) {
	s.update(func(*State) *Delta { return a.Withdraw() })
}

// Withdraw returns the change that removes the approval request a from the state. Use it if Decide
// will not be called again for the call.
func (a *Ask) Withdraw() *Delta { return &Delta{Answered: a.Number} }

// Settle is like [Ticket.Settle], but identifies the call by its number.
func (s *Session) Settle(number uint64, o Outcome) (changed bool) {
	return s.SettleAt(number, o, time.Time{})
}

// SettleAt is like [Ticket.SettleAt], but identifies the call by its number.
func (s *Session) SettleAt(number uint64, o Outcome, t time.Time) (changed bool) {
	return s.End(number, End{Outcome: o, Time: t})
}

// End is like [Ticket.End], but identifies the call by its number.
func (s *Session) End(number uint64, e End) (changed bool) {
	prepared := s.policy.PrepareEnd(e)
	s.update(func(state *State) *Delta {
		d := prepared.Settle(state, number)
		changed = d != nil
		return d
	})
	return changed
}

// Settle reports the outcome of the call to the nets. Only the first Success or Failure counts;
// after Unknown, the call stays open and can still be settled. The result reports whether anything
// changed.
func (t *Ticket) Settle(o Outcome) bool { return t.session.Settle(t.Number, o) }

// SettleAt is like Settle, but also reports when the call ended. Nets with a clock need this time.
// If it is unknown (zero), a transition with [Transition.Every] may fire too late, but never too
// early.
func (t *Ticket) SettleAt(o Outcome, ended time.Time) bool {
	return t.session.SettleAt(t.Number, o, ended)
}

// End is like SettleAt, but reports everything that is known about the end of the call.
func (t *Ticket) End(e End) bool { return t.session.End(t.Number, e) }

// Close settles the call as [Unknown] unless it is already settled.
func (t *Ticket) Close() { t.Settle(Unknown) }

// Classify is like [Policy.Classify] for the current state.
func (s *Session) Classify(c Call) (vs []Verdict) {
	return read(s, func(state *State) []Verdict { return s.policy.Classify(state, c) })
}

// Open lists the admitted calls that have not been settled, oldest first.
func (s *Session) Open() (open []Holder) { return read(s, (*State).Open) }

// Confirm decides on a call for a caller that can wait. If a person must be asked, Confirm calls
// ask and decides again with the answer. The result is an [Allow] or a [Refusal].
//
// The call is approved only if ask returns true without an error and ctx is not done by then. This
// counts as one person's approval: a call that needs several is refused; see [ConfirmN]. If ask is
// nil, calls that require approval are refused. No lock is held while ask runs.
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

// ConfirmN is like [Confirm], but ask returns the number of people who approve the call, which must
// be at least [Ask.Approvals]. ask must count each person only once.
func ConfirmN(ctx context.Context, s *Session, c Call, ask func(context.Context, *Ask) (int, error)) Decision {
	d := s.Decide(c, nil)
	a, ok := d.(*Ask)
	if !ok {
		return d
	}
	defer s.Withdraw(a) // close the request even if ask panics; has no effect if the call was admitted
	if ask != nil {
		if n, err := ask(ctx, a); err == nil && n >= a.Approvals() && ctx.Err() == nil {
			return s.Decide(c, a.Grant())
		}
	}
	r := a.Refusal()
	s.notify(c, r)
	return r
}
