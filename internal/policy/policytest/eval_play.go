package policytest

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
)

// play makes an event happen in a session of the sandbox.
func (e *event) play(box *sandbox.Sandbox, s *sandbox.Session) decision {
	switch e.Type {
	case "call":
		call := gate.Call{ID: e.ID, Tool: e.Tool, Also: e.also(), Args: e.arguments()}
		if e.Times > 0 {
			return repeat(s, call, sandbox.Consent(e.Approve), e.Times)
		}
		return shown(s.Call(call, sandbox.Consent(e.Approve)))
	case "wait":
		box.Wait(e.duration())
	case "answer":
		return shown(s.Answer(e.ID, sandbox.Consent(e.Approve)))
	case "result":
		s.End(e.ID, outcomes[e.Outcome])
	case "activate":
		_ = s.Activate(e.Net) // unknown names are ignored here
	case "deactivate":
		_ = s.Deactivate(e.Net)
	}
	return decision{Decision: "settled"}
}

// repeat makes a call again and again, as long as it is admitted. Each succeeds.
func repeat(s *sandbox.Session, c gate.Call, says sandbox.Consent, times int) (d decision) {
	for d.Times < times {
		before := d.Times
		if d = shown(s.Call(c, says)); d.Decision != "allow" {
			d.Times = before
			return d
		}
		d.Times = before + 1
		s.End(c.ID, gate.Success)
	}
	return d
}

// shown shows a decision.
func shown(d gate.Decision) decision {
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
