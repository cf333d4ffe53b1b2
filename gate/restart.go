package gate

import (
	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// Reset returns the change that resets every net of s to its initial state. When a call that is
// still in flight ends, it no longer changes the nets. But if it keeps other calls from counting
// (see [Transition.Spoils]), it continues to do so until it ends. Reset does not activate or
// deactivate nets. It does not affect calls that wait for a person, or nets that are shared with
// other sessions; see [State.Owners].
func (p *Policy) Reset(s *State) *Delta {
	d := &Delta{}
	for i, n := range p.nets {
		if s.Owners[n.Scope] == 0 {
			d.set(i, "", n.restarted(s.Nets[i]))
		}
	}
	return d
}

// restarted returns the net's initial state, but keeps the record of calls in flight that prevent
// other calls from counting; see [Transition.Spoils]. It keeps the record both for the whole net
// and for individual key values.
func (n *net) restarted(d *NetData) *NetData {
	r := n.reset(d)
	if d.Shadow != nil {
		r.Shadow = &ShadowData{Enforced: n.reset(d.Shadow.Enforced)}
	}
	r.Values = netstate.MapValues(d.Values, r, func(d *NetData) *NetData {
		one := netstate.ForNewValue(r)
		netstate.SetSpoilers(&one, d.Spoilers())
		if one.Shadow != nil {
			netstate.SetSpoilers(one.Shadow.Enforced, d.Shadow.Enforced.Spoilers())
		}
		return &one
	})
	return r
}

// reset returns the net's initial state, but keeps three parts of d, the current state: whether the
// net is active, the shadow data (see [ShadowData]), and the calls in flight that prevent other
// calls from counting (see [Transition.Spoils]).
func (n *net) reset(d *NetData) *NetData {
	fresh := &NetData{Active: d.Active, Marking: n.start, Shadow: d.Shadow}
	netstate.SetSpoilers(fresh, d.Spoilers())
	return fresh
}

// restartRow resets the net to its initial state if the call differs from the last call that the
// net counted; see [Net.Row]. The reset takes effect when the call is admitted.
func (f *finding) restartRow(row string) {
	if f.net.Row && f.data.Row() != "" && f.data.Row() != row {
		f.data, f.restarts = f.net.reset(f.data), true
	}
}

// recordRow stores row, the call's fingerprint, for comparison with the next call; see [Net.Row].
// If the net has not counted the call, recordRow stores "" instead.
func (m *move) recordRow(f *finding, row string) {
	if !f.hasGating() {
		row = ""
	}
	netstate.SetRow(m.data, row)
}
