package gate

import (
	"slices"
	"time"
)

// Settle returns the change of the state s by the end of an admitted call, or nil if the call is
// already settled or was never admitted.
//
// A success or a failure settles the call. After an unknown outcome, the call stays open or is
// merged into another open call, see [OpenCall.More]; only the first unknown outcome has an effect.
// Settle calls the hooks of the nets; see [Net.OnSuccess].
func (q PreparedEnd) Settle(s *State, number uint64) *Delta {
	c, o := s.Calls[number], q.end.Outcome
	if c == nil || o > Failure || o == Unknown && c.Unknown {
		return nil
	}
	d := &Delta{Closed: number}
	switch {
	case o == Unknown:
		d = s.endUnknown(c)
	case c.More > 0 && !q.end.All:
		return c.withOneLess()
	}
	q.broke(d, s, c)
	room := make([]NetData, len(c.Nets))
	d.Nets = make([]NetDelta, 0, len(c.Nets))
	for k, i := range c.Nets {
		n := q.policy.nets[i]
		e := ending{call: c, flight: s.flight(n, number, c.Call.Time), outcome: o, over: d.Closed != 0, time: q.end.Time, result: q.end.Result}
		if len(n.keys) > 0 {
			if slices.Index(c.Nets, i) == k {
				q.settleKeyed(d, s, n, e)
			}
			continue
		}
		if e.applyBoth(n, n.advanced(s.Nets[i], nil, q.end.Time), &room[k]) {
			d.set(i, "", &room[k])
		}
	}
	return d
}

// End returns the change of the state s by the end of an admitted call; see [PreparedEnd.Settle].
func (p *Policy) End(s *State, number uint64, e End) *Delta {
	return p.PrepareEnd(e).Settle(s, number)
}

// Settle is [Policy.End] with only an outcome.
func (p *Policy) Settle(s *State, number uint64, o Outcome) *Delta {
	return p.End(s, number, End{Outcome: o})
}

// SettleAt is [Policy.End] without a result.
func (p *Policy) SettleAt(s *State, number uint64, o Outcome, t time.Time) *Delta {
	return p.End(s, number, End{Outcome: o, Time: t})
}
