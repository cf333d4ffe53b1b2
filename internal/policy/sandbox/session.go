package sandbox

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// Consent is an answer to an approval request.
type Consent uint8

const (
	Nobody Consent = iota // no person is available to answer
	Yes
	No
	Later // the answer is given later, with [Session.Answer]
)

// Call makes a call at the simulated time. If the call requires approval, the given answer decides.
// If the answer is [Later], Call returns the [gate.Ask] instead.
func (s *Session) Call(c gate.Call, says Consent) gate.Decision {
	c.Time = s.box.now
	d := s.Decide(c, nil)
	ask, ok := d.(*gate.Ask)
	if !ok {
		return s.decided(c, d)
	}
	if says == Later {
		s.waiting[c.ID] = waitingCall{c, ask}
		return ask
	}
	return s.answered(waitingCall{c, ask}, says)
}

// Answer answers the approval request of a waiting call. It returns nil if no call with the given
// ID is waiting.
func (s *Session) Answer(id string, says Consent) gate.Decision {
	w, ok := s.waiting[id]
	if !ok {
		return nil
	}
	delete(s.waiting, id)
	return s.answered(w, says)
}

func (s *Session) answered(w waitingCall, says Consent) gate.Decision {
	if says != Yes {
		s.Withdraw(w.ask)
		return w.ask.Refusal()
	}
	return s.decided(w.call, s.Decide(w.call, w.ask.Grant()))
}

// decided stores the call under its ID if it was admitted.
func (s *Session) decided(c gate.Call, d gate.Decision) gate.Decision {
	switch d := d.(type) {
	case *gate.Allow:
		s.calls[c.ID] = madeCall{d.Ticket.Number, gate.Call{Tool: c.Tool, Also: c.Also}}
	case *gate.Ask: // the request was already answered; do not ask again
		s.Withdraw(d)
		return d.Refusal()
	}
	return d
}

// End ends the last admitted call with the given ID at the simulated time. It reports whether the
// state of the session changed.
func (s *Session) End(id string, e gate.End) bool {
	made, ok := s.calls[id]
	e.Time = s.box.now
	return ok && s.Session.End(made.number, e)
}

// Return ends a call like [Session.End], but first applies the policy's success conditions to the
// call's result, if it is known. If the result is a JSON string, conditions can read it as text.
func (s *Session) Return(id string, e gate.End) bool {
	if made, ok := s.calls[id]; ok && e.Result != nil {
		e.Text, _ = rawjson.String(e.Result)
		e, _ = s.box.policy.Judged(&made.names, e)
	}
	return s.End(id, e)
}

// VerdictOf returns the verdict of a refusal: "ask", "refuse" or, if r is nil, the empty string.
func VerdictOf(r *gate.Refusal) string {
	switch {
	case r == nil:
		return ""
	case r.Kind == gate.KindApproval:
		return "ask"
	default:
		return "refuse"
	}
}
