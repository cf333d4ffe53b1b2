package policy

import (
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A Player plays what happens in a session: calls, the answers of people, and
// results. It knows calls by the ids that the script of the play gives them.
type Player struct {
	session *gate.Session
	waiting map[string]question
	calls   map[string]uint64 // the number of the last admitted call with an id
}

// A question is a call that waits for a person.
type question struct {
	call gate.Call
	ask  *gate.Ask
}

// Consent is what a person says to a question.
type Consent uint8

const (
	Nobody Consent = iota // there is nobody to ask
	Yes
	No
	Later // the answer comes by [Player.Answer]
)

// NewPlayer plays in a session.
func NewPlayer(s *gate.Session) *Player {
	return &Player{session: s, waiting: make(map[string]question), calls: make(map[string]uint64)}
}

// Session is the session in which it plays.
func (p *Player) Session() *gate.Session { return p.session }

// Call makes a call and, where a person has to be asked, answers for that
// person. Only where the answer comes later, the decision is a [gate.Ask].
func (p *Player) Call(c gate.Call, says Consent) gate.Decision {
	d := p.session.Decide(c, nil)
	ask, ok := d.(*gate.Ask)
	if !ok {
		return p.decided(c, d)
	}
	if says == Later {
		p.waiting[c.ID] = question{c, ask}
		return ask
	}
	return p.answered(question{c, ask}, says)
}

// Answer ends the waiting of a call. It is nil if none with the id waits.
func (p *Player) Answer(id string, says Consent) gate.Decision {
	q, ok := p.waiting[id]
	if !ok {
		return nil
	}
	delete(p.waiting, id)
	return p.answered(q, says)
}

func (p *Player) answered(q question, says Consent) gate.Decision {
	if says != Yes {
		p.session.Withdraw(q.ask)
		return q.ask.Refusal()
	}
	return p.decided(q.call, p.session.Decide(q.call, q.ask.Grant()))
}

// decided notes an admitted call.
func (p *Player) decided(c gate.Call, d gate.Decision) gate.Decision {
	switch d := d.(type) {
	case *gate.Allow:
		p.calls[c.ID] = d.Ticket.Number
	case *gate.Ask: // it was answered already: nobody is asked twice
		p.session.Withdraw(d)
		return d.Refusal()
	}
	return d
}

// Settle says how the last admitted call with an id ended. It reports whether
// that changed anything.
func (p *Player) Settle(id string, o gate.Outcome) bool { return p.SettleAt(id, o, time.Time{}) }

// SettleAt is Settle at a time, for nets that go by the clock.
func (p *Player) SettleAt(id string, o gate.Outcome, t time.Time) bool {
	number, ok := p.calls[id]
	return ok && p.session.SettleAt(number, o, t)
}
