package gate

import (
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
)

// An End describes how a call ended.
type End struct {
	Outcome Outcome

	// Time is when the call ended; zero means unknown. If the time is unknown, a timed transition
	// (see [Transition.Every]) whose input tokens change begins a new period at the next known
	// time. It thus fires late rather than early.
	Time time.Time

	// Result is the result of a successful call as a single JSON value, or nil if it is unknown. A
	// result that is longer than a megabyte, or that JSON parsers might read differently, counts as
	// unknown. See [Policy.ReadsResults].
	Result []byte

	// Text is the result text of a successful call, for [Policy.Judged].
	Text string

	// Broken is the condition that the result violated, if [Policy.Judged] turned a success into a
	// failure. Otherwise, it is nil.
	Broken *Condition

	// All applies the end to all calls that an open call represents, instead of just one of them;
	// see [OpenCall.More]. Set it only if an operator has determined that all of them ended in the
	// same way.
	All bool
}

// A PreparedEnd is an [End] whose result has already been parsed, so that no state is locked during
// parsing. A PreparedEnd is not safe for concurrent use.
type PreparedEnd struct {
	policy  *Policy
	end     End
	carrier *keyvalue.CallReader // nil if no key reads the result
}

// PrepareEnd parses the result of a call that has ended.
func (p *Policy) PrepareEnd(e End) PreparedEnd {
	q := PreparedEnd{policy: p, end: e}
	if e.Outcome != Success || !p.results {
		q.end.Result = nil
		return q
	}
	if !keyvalue.Readable(e.Result) {
		q.end.Result = nil
	}
	q.carrier = &keyvalue.CallReader{Set: &p.keys, Result: q.end.Result}
	q.carrier.ReadResult()
	return q
}

// Judged checks a successful call against the policy's conditions on results. If the call violates
// a condition, Judged returns e with its outcome changed to a failure, along with the first
// violated condition. Otherwise, it returns e unchanged and nil.
func (p *Policy) Judged(c *Call, e End) (judged End, broken *Condition) {
	if e.Outcome != Success {
		return e, nil
	}
	for i := range p.successes {
		s := &p.successes[i]
		if s.AboutCall(c) && !holds(s, c, &e) {
			e.Outcome, e.Broken = Failure, s
			return e, s
		}
	}
	return e, nil
}

// holds reports whether the condition holds for the call. If the condition's judge panics, the
// condition does not hold.
func holds(s *Condition, c *Call, e *End) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return s.Judge.Holds(c, e.Result, e.Text, s.Number)
}

// broke adds to d the near misses (see [Near]) of a call whose result violated a condition. It adds
// one near miss for each name of the call that an observer was waiting for.
func (q *PreparedEnd) broke(d *Delta, s *State, c *OpenCall) {
	why := Doubt{What: fmt.Sprintf("its result fails the condition `success %s when %q`", q.end.Broken.Tool, q.end.Broken.Source)}
	for k, i := range c.Nets {
		n, data := q.policy.nets[i], s.Nets[i]
		if len(c.Keys) > 0 {
			if value := data.Values.Get(c.Keys[k]); value != nil {
				data = value
			}
		}
		own := s.flight(n, c.Number, c.Call.Time)
		for _, w := range data.Watches {
			if w.SameCall(&own) {
				d.Near = append(d.Near, Near{Name: w.Name, Why: why})
			}
		}
	}
}

// Settle returns the change that the end of an admitted call makes to s, or nil if the call has
// already been settled or was never admitted.
//
// A success or a failure settles the call. After an unknown outcome, the call stays open, or
// another open call represents it (see [OpenCall.More]). Further unknown outcomes have no effect.
// Settle calls the nets' hooks; see [Net.OnSuccess].
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
	if q.end.Broken != nil {
		q.broke(d, s, c)
	}
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

// End returns the change that the end of an admitted call makes to s; see [PreparedEnd.Settle].
func (p *Policy) End(s *State, number uint64, e End) *Delta {
	return p.PrepareEnd(e).Settle(s, number)
}

// Settle is like [Policy.End] for an outcome without further details.
func (p *Policy) Settle(s *State, number uint64, o Outcome) *Delta {
	return p.End(s, number, End{Outcome: o})
}

// SettleAt is like [Policy.End] for an outcome and its time, without a result.
func (p *Policy) SettleAt(s *State, number uint64, o Outcome, t time.Time) *Delta {
	return p.End(s, number, End{Outcome: o, Time: t})
}
