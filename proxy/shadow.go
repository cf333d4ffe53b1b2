package proxy

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// netShadow returns the entry for a net in the shadow report. It returns nil if the net is not in
// shadow mode.
func netShadow(r gate.ShadowReport, net string) *operator.NetShadow {
	for _, n := range r.Nets {
		if n.Name == net {
			return &operator.NetShadow{Enforced: n.Enforced.String(), Parted: n.Parted, Refused: n.Refused, Asked: n.Asked}
		}
	}
	return nil
}

// Shadow reports on the nets in shadow mode, either in one session or, if the session ID is empty,
// in all sessions since the proxy started.
func (p *sessionView) Shadow(id string) (operator.ShadowInfo, error) {
	sessions := p.sessions.All()
	if id != "" {
		s, _, err := p.find(id)
		if err != nil {
			return operator.ShadowInfo{}, err
		}
		sessions = []*session.Session{s}
	}
	counted := p.admission.Counts(id)
	r := operator.ShadowInfo{
		Policy: p.admission.Generation().Policy.Shadow(), Refused: counted.Refused, Asked: counted.Asked,
		Would: counted.Would, Nets: []operator.ShadowNet{},
	}
	for _, s := range sessions {
		state, err := p.pool.Snapshot(s)
		if err != nil { // the session has ended in the meantime
			continue
		}
		report := state.Policy().ShadowOf(state)
		for _, n := range report.Nets {
			if n.Active {
				r.Nets = append(r.Nets, operator.ShadowNet{Session: s.ID, Net: n.Name, Actual: n.Actual.String(), NetShadow: *netShadow(report, n.Name)})
			}
		}
	}
	return r, nil
}
