package gate

import "slices"

// A ShadowReport summarizes how the nets in shadow mode would have decided.
type ShadowReport struct {
	WouldCount
	Nets []ShadowState // nets in shadow mode, in the order of the policy
}

// A ShadowState is a copy of the state of one net in shadow mode.
type ShadowState struct {
	Name     string
	Active   bool
	Enforced Marking // marking if the nets in shadow mode had blocked, with all approvals granted
	Actual   Marking // marking after all calls made, where possible
	Parted   bool    // the two markings differ
	Refused  int     // number of calls that it would have refused
	Asked    int     // number of calls that would have required approval
}

// Shadow reports on the nets in shadow mode.
func (s *Session) Shadow() (r ShadowReport) { return read(s, s.policy.ShadowOf) }

// ShadowOf reports on the nets in shadow mode in the state s.
func (p *Policy) ShadowOf(s *State) ShadowReport {
	r := ShadowReport{WouldCount: s.Would}
	for i, n := range p.nets {
		if n.Shadow {
			r.Nets = append(r.Nets, n.shadowState(s.Nets[i]))
		}
	}
	return r
}

func (n *net) shadowState(d *NetData) ShadowState {
	s := ShadowState{
		Name: n.Name, Active: d.Active,
		Enforced: n.show(d.Shadow.Enforced), Actual: n.show(d),
		Refused: d.Shadow.Refused, Asked: d.Shadow.Asked,
	}
	s.Parted = !slices.Equal(s.Enforced, s.Actual)
	return s
}
