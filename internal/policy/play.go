package policy

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// A play is a session in which the events of a case happen.
type play struct {
	*Player
	now time.Time
}

func newPlay(p *gate.Policy, active []string) *play {
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	return &play{NewPlayer(gate.NewSession(p, gate.SessionOptions{Active: active, Time: start})), start}
}

func (p *play) event(e event) decision {
	switch e.Type {
	case "call":
		call := gate.Call{ID: e.ID, Tool: e.Tool, Also: e.also(), Args: e.arguments(), Time: p.now}
		if e.Times > 0 {
			return p.repeat(call, Consent(e.Approve), e.Times)
		}
		return decided(p.Call(call, Consent(e.Approve)))
	case "wait":
		d, _ := time.ParseDuration(e.For) // it was checked
		p.now = p.now.Add(d)
	case "answer":
		return decided(p.Answer(e.ID, Consent(e.Approve)))
	case "result":
		p.SettleAt(e.ID, outcomes[e.Outcome], p.now)
	case "activate":
		_ = p.session.Activate(e.Net) // unknown names are ignored here
	case "deactivate":
		_ = p.session.Deactivate(e.Net)
	}
	return decision{Decision: "settled"}
}

// repeat makes a call again and again, as long as it is admitted. Each succeeds.
func (p *play) repeat(c gate.Call, says Consent, times int) (d decision) {
	for d.Times < times {
		before := d.Times
		if d = decided(p.Call(c, says)); d.Decision != "allow" {
			d.Times = before
			return d
		}
		d.Times = before + 1
		p.SettleAt(c.ID, gate.Success, p.now)
	}
	return d
}

// decided shows a decision.
func decided(d gate.Decision) decision {
	switch d := d.(type) {
	case *gate.Allow:
		would := decision{Nets: []string{}}
		if d.Would != nil {
			would = held("", d.Would)
		}
		would.Decision = "allow"
		return would
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

func (p *play) final() []netFinal { return states(p.session.Nets()) }
