package sandbox

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Session is a session in which calls, answers of people and results are made up.
// It knows calls by the ids that its user gives them.
type Session struct {
	*gate.Session
	box     *Sandbox
	waiting map[string]waitingCall
	calls   map[string]madeCall // the last admitted call with an id
}

// A madeCall is an admitted call.
type madeCall struct {
	number uint64
	names  gate.Call // without arguments
}

// A waitingCall waits for a person.
type waitingCall struct {
	call gate.Call
	ask  *gate.Ask
}

// Consent is the answer of a person who is asked to approve a call.
type Consent uint8

const (
	Nobody Consent = iota // nobody is there to ask
	Yes
	No
	Later // the answer comes by [Session.Answer]
)

// Call makes a call at the time of the sandbox and, where a person has to be asked,
// answers for that person. It returns a [gate.Ask] only where the answer comes later.
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

// Answer answers for the person whom a waiting call asks. It returns nil if no call
// with the id waits.
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

// decided notes an admitted call.
func (s *Session) decided(c gate.Call, d gate.Decision) gate.Decision {
	switch d := d.(type) {
	case *gate.Allow:
		s.calls[c.ID] = madeCall{d.Ticket.Number, gate.Call{Tool: c.Tool, Also: c.Also}}
	case *gate.Ask: // it was answered already: nobody is asked twice
		s.Withdraw(d)
		return d.Refusal()
	}
	return d
}

// End settles the last admitted call with an id, at the time of the sandbox. It reports whether that changed
// anything.
func (s *Session) End(id string, e gate.End) bool {
	made, ok := s.calls[id]
	e.Time = s.box.now
	return ok && s.Session.End(made.number, e)
}

// Return settles a call as End does, after the conditions of the policy have judged what it
// returned, if that is given. What is a JSON string is its text, too.
func (s *Session) Return(id string, e gate.End) bool {
	if made, ok := s.calls[id]; ok && e.Result != nil {
		e.Text, _ = rawjson.String(e.Result)
		e, _ = s.box.policy.Judged(&made.names, e)
	}
	return s.End(id, e)
}

// VerdictOf returns what a refusal comes to, "ask" or "refuse"; empty for none.
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
