package gate

import "fmt"

// Successes lists the conditions on results of the policy, in order.
func (p *Policy) Successes() []Condition {
	var all []Condition
	for _, l := range p.labels {
		all = append(all, l.Successes...)
	}
	return all
}

// JudgesResults reports whether the policy has conditions on results; see [Policy.Judged].
func (p *Policy) JudgesResults() bool { return len(p.successes) > 0 }

// Judged returns the end of a call, which is a failure if the call returned what a
// condition of the policy does not take for a success. broken is the first such
// condition; nil: the end is as it was given.
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

// holds asks the judge of a condition. One that panics does not know.
func holds(s *Condition, c *Call, e *End) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return s.Judge.Holds(c, e.Result, e.Text, s.Number)
}

// broke adds to d the names that the call would have counted for, had its result met the condition that it broke.
func (q *PreparedEnd) broke(d *Delta, s *State, c *OpenCall) {
	if q.end.Broken == nil {
		return
	}
	why := Doubt{What: fmt.Sprintf("its result is no success by `success %s when %q`", q.end.Broken.Tool, q.end.Broken.Source)}
	for k, i := range c.Nets {
		n, data := q.policy.nets[i], s.Nets[i]
		if len(c.Keys) > 0 {
			if value := data.Values.Get(c.Keys[k]); value != nil {
				data = value
			}
		}
		own := s.flight(n, c.Number, c.Call.Time)
		for _, w := range data.Watches {
			if w.Is(&own) {
				d.Near = append(d.Near, Near{Name: w.Name, Why: why})
			}
		}
	}
}
