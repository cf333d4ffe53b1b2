package gate

import "fmt"

// Judged applies the conditions on results to the end of a call. If a success violates a condition,
// the returned end is a failure, and broken is the first violated condition; otherwise broken is
// nil and e is returned unchanged.
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

// holds evaluates a condition. A judge that panics counts as a violation.
func holds(s *Condition, c *Call, e *End) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return s.Judge.Holds(c, e.Result, e.Text, s.Number)
}

// broke records in d the names that lost their evidence because the result of the call violated a
// condition.
func (q *PreparedEnd) broke(d *Delta, s *State, c *OpenCall) {
	if q.end.Broken == nil {
		return
	}
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
