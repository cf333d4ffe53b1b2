package gate

import "context"

// Confirm decides a call for a caller that can wait: if a person must be asked, it
// calls ask, and decides again with the answer. The result is an [Allow] or a
// [Refusal].
//
// Only true without an error approves, and only if ctx is not done by then.
// With a nil ask there is nobody to ask. No lock is held while ask runs.
func Confirm(ctx context.Context, s *Session, c Call, ask func(context.Context, *Ask) (bool, error)) Decision {
	d := s.Decide(c, nil)
	a, ok := d.(*Ask)
	if !ok {
		return d
	}
	defer s.Withdraw(a) // also if ask panics; has no effect after an admission
	if ask != nil {
		if yes, err := ask(ctx, a); err == nil && yes && ctx.Err() == nil {
			return s.Decide(c, a.Grant())
		}
	}
	r := a.Refusal()
	s.tell(c, r)
	return r
}
