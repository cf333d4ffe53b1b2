package policy

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// A play is a session in which the events of a case happen.
type play struct {
	session *gate.Session
	waiting map[string]question // by id of the call
	calls   map[string]uint64   // the number of the last admitted call with an id
}

// A question is a call that waits for a person.
type question struct {
	call gate.Call
	ask  *gate.Ask
}

func newPlay(p *gate.Policy, active []string) *play {
	return &play{
		session: gate.NewSession(p, gate.SessionOptions{Active: active}),
		waiting: make(map[string]question),
		calls:   make(map[string]uint64),
	}
}

func (p *play) event(e event) decision {
	switch e.Type {
	case "call":
		return p.call(e)
	case "answer":
		return p.answer(e)
	case "result":
		if number, ok := p.calls[e.ID]; ok {
			p.session.Settle(number, outcomes[e.Outcome])
		}
	case "activate":
		_ = p.session.Activate(e.Net) // unknown names are ignored here
	case "deactivate":
		_ = p.session.Deactivate(e.Net)
	}
	return decision{Decision: "settled"}
}

func (p *play) call(e event) decision {
	c := gate.Call{ID: e.ID, Tool: e.Tool, Args: e.arguments()}
	d := p.session.Decide(c, nil)
	ask, ok := d.(*gate.Ask)
	if !ok {
		return p.decided(c, d)
	}
	switch e.Approve {
	case yes:
		return p.decided(c, p.session.Decide(c, ask.Grant()))
	case later:
		p.waiting[e.ID] = question{c, ask}
		return asked("ask", ask)
	default:
		p.session.Withdraw(ask)
		return asked("refuse", ask)
	}
}

// answer ends the waiting of a call.
func (p *play) answer(e event) decision {
	q, ok := p.waiting[e.ID]
	if !ok {
		return decision{Decision: "ignored"}
	}
	delete(p.waiting, e.ID)
	if e.Approve == no {
		p.session.Withdraw(q.ask)
		return asked("refuse", q.ask)
	}
	return p.decided(q.call, p.session.Decide(q.call, q.ask.Grant()))
}

// decided notes an admitted call and shows the decision.
func (p *play) decided(c gate.Call, d gate.Decision) decision {
	switch d := d.(type) {
	case *gate.Allow:
		p.calls[c.ID] = d.Ticket.Number
		return decision{Decision: "allow", Nets: []string{}}
	case *gate.Ask: // it was answered already: nobody is asked twice
		p.session.Withdraw(d)
		return asked("refuse", d)
	default:
		return refused(d.(*gate.Refusal))
	}
}

func refused(r *gate.Refusal) decision {
	d := decision{Decision: "refuse", Kind: string(r.Kind), Nets: []string{}, Reason: r.Text}
	for _, b := range r.Blocks {
		d.Nets = append(d.Nets, b.Net)
	}
	if len(r.Blocks) > 0 {
		d.Cause = string(r.Blocks[0].Cause)
	}
	d.Nets = sorted(d.Nets)
	return d
}

// asked shows a question, and its end where nobody consents.
func asked(what string, a *gate.Ask) decision {
	d := decision{Decision: what, Kind: string(gate.KindApproval), Nets: []string{}, Cause: string(gate.CauseApproval)}
	for _, s := range a.Steps {
		d.Nets = append(d.Nets, s.Net)
	}
	if len(a.Steps) > 0 {
		d.Reason = a.Steps[0].Reason
	}
	d.Nets = sorted(d.Nets)
	return d
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func (p *play) final() []netFinal { return states(p.session.Nets()) }
