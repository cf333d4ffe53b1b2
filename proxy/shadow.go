package proxy

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// A ShadowInfo says what the nets in shadow would have refused or asked about.
type ShadowInfo struct {
	Policy  bool        `json:"policy"`  // the whole policy is in shadow
	Refused int         `json:"refused"` // calls
	Asked   int         `json:"asked"`
	Would   []WouldInfo `json:"would"` // most often first
	Nets    []ShadowNet `json:"nets"`  // in shadow, of each session that is open
}

// A WouldInfo is one answer that nets in shadow would have given to calls that
// passed, and how often.
type WouldInfo = admission.Would

// A ShadowNet is a net in shadow in one session.
type ShadowNet struct {
	Session string `json:"session"`
	Net     string `json:"net"`
	Actual  string `json:"actual"` // the marking that the calls led to, which is shown elsewhere
	NetShadow
}

// NetShadow is what a net in shadow has besides its marking.
type NetShadow struct {
	Enforced string `json:"enforced"` // the marking, had the nets in shadow blocked
	Parted   bool   `json:"parted"`   // that is another one
	Refused  int    `json:"refused"`  // calls that it would have refused
	Asked    int    `json:"asked"`    // calls about which it would have asked a person
}

// netShadow returns what the report says of the net; nil if it is not in shadow.
func netShadow(r gate.ShadowReport, net string) *NetShadow {
	for _, n := range r.Nets {
		if n.Name == net {
			return &NetShadow{Enforced: n.Enforced.String(), Parted: n.Parted, Refused: n.Refused, Asked: n.Asked}
		}
	}
	return nil
}

// Shadow reports on the nets in shadow: in one session, or in all since the
// proxy started where id is empty.
func (p *Proxy) Shadow(id string) (ShadowInfo, error) {
	sessions := p.sessions.All()
	if id != "" {
		s, _, err := p.find(id)
		if err != nil {
			return ShadowInfo{}, err
		}
		sessions = []*session.Session{s}
	}
	counted := p.admission.Counts(id)
	r := ShadowInfo{
		Policy: p.admission.Generation().Policy.Shadow(), Refused: counted.Refused, Asked: counted.Asked,
		Would: counted.Would, Nets: []ShadowNet{},
	}
	for _, s := range sessions {
		state, err := p.pool.Snapshot(s)
		if err != nil { // it has ended meanwhile
			continue
		}
		report := state.Policy().ShadowOf(state)
		for _, n := range report.Nets {
			if n.Active {
				r.Nets = append(r.Nets, ShadowNet{Session: s.ID, Net: n.Name, Actual: n.Actual.String(), NetShadow: *netShadow(report, n.Name)})
			}
		}
	}
	return r, nil
}
