package policy

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// A play is a session in which the events of a case happen.
type play struct{ *Player }

func newPlay(p *gate.Policy, active []string) play {
	return play{NewPlayer(gate.NewSession(p, gate.SessionOptions{Active: active}))}
}

func (p play) event(e event) decision {
	switch e.Type {
	case "call":
		return decided(p.Call(gate.Call{ID: e.ID, Tool: e.Tool, Also: e.also(), Args: e.arguments()}, Consent(e.Approve)))
	case "answer":
		return decided(p.Answer(e.ID, Consent(e.Approve)))
	case "result":
		p.Settle(e.ID, outcomes[e.Outcome])
	case "activate":
		_ = p.session.Activate(e.Net) // unknown names are ignored here
	case "deactivate":
		_ = p.session.Deactivate(e.Net)
	}
	return decision{Decision: "settled"}
}

// decided shows a decision.
func decided(d gate.Decision) decision {
	switch d := d.(type) {
	case *gate.Allow:
		return decision{Decision: "allow", Nets: []string{}}
	case *gate.Ask:
		return held("ask", d.Refusal())
	case *gate.Refusal:
		return held("refuse", d)
	default: // the answer to no question
		return decision{Decision: "ignored"}
	}
}

// held shows what keeps a call from passing now.
func held(what string, r *gate.Refusal) decision {
	d := decision{Decision: what, Kind: string(r.Kind), Nets: []string{}, Reason: r.Text}
	for _, b := range r.Blocks {
		d.Nets = append(d.Nets, b.Net)
	}
	if len(r.Blocks) > 0 {
		d.Cause = string(r.Blocks[0].Cause)
	}
	d.Nets = sorted(d.Nets)
	return d
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func (p play) final() []netFinal { return states(p.session.Nets()) }
