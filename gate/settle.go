package gate

import "time"

// Settle is [Policy.SettleAt] without a time.
func (p *Policy) Settle(s *State, number uint64, o Outcome) *Delta {
	return p.SettleAt(s, number, o, time.Time{})
}

// SettleAt returns the change of the state s by the outcome of an admitted call, or
// nil if the call is settled or was never admitted.
//
// A success or a failure settles the call. Only the first unknown outcome has an
// effect, and the call stays open. SettleAt runs the hooks of the nets; see
// [Net.OnSuccess].
//
// The time is the end of the call. If it is zero, a clock whose tokens the outcome
// changes starts again: it is late rather than early.
func (p *Policy) SettleAt(s *State, number uint64, o Outcome, t time.Time) *Delta {
	c := s.Calls[number]
	if c == nil || o > Failure || o == Unknown && c.Unknown {
		return nil
	}
	d := &Delta{Closed: number}
	if o == Unknown {
		waits := *c
		waits.Unknown = true
		d = &Delta{Opened: &waits}
	}
	room := make([]NetData, len(c.Nets))
	for k, i := range c.Nets {
		old := p.nets[i].at(s.Nets[i], t)
		e := ending{call: c, flight: s.flight(p.nets[i], number, c.Call.Time), outcome: o, time: t}
		if e.both(p.nets[i], old, &room[k]) {
			d.set(i, &room[k])
		}
	}
	return d
}

// ending is the outcome of a call for one net.
type ending struct {
	call    *OpenCall
	flight  Flight
	outcome Outcome
	time    time.Time
}

// both puts into room what becomes of old, and, in shadow, of the enforced
// state; it reports whether the net waited for the call.
func (e *ending) both(n *net, old, room *NetData) bool {
	waited := e.apply(n, old, room)
	if old.Shadow == nil {
		return waited
	}
	shadow := *old.Shadow
	shadow.Enforced = &NetData{}
	waited = e.apply(n, old.Shadow.Enforced, shadow.Enforced) || waited
	room.Shadow = &shadow
	return waited
}

func (e *ending) apply(n *net, old, room *NetData) bool {
	m := newMove(n, old, room)
	if !m.end(e.call, e.flight, e.outcome) {
		return false
	}
	m.clock(old, e.time)
	return true
}

// end applies the outcome of a call to one net; it reports whether the net
// waited for it.
func (m *move) end(c *OpenCall, call Flight, o Outcome) bool {
	if !m.data.waits(&call) {
		return false
	}
	if o != Unknown {
		m.data.Spoilers = keep(m.data.Spoilers, func(f Flight) bool { return !f.of(&call) })
	}
	var done []Flight
	m.data.Flights = keep(m.data.Flights, func(f Flight) bool {
		if !f.of(&call) || o == Unknown && !m.net.Transitions[f.Transition].Release {
			return true
		}
		done = append(done, f)
		return false
	})
	if o == Success {
		m.succeed(c, call, done)
	} else {
		for _, f := range done {
			m.net.net.Transitions[f.Transition].GiveBack(m.marking())
		}
		m.unwatch(call)
	}
	m.settle()
	return true
}

// succeed completes the transitions of the call, and fires those that watched it.
func (m *move) succeed(c *OpenCall, call Flight, done []Flight) {
	for _, f := range done {
		m.net.net.Transitions[f.Transition].Put(m.marking())
		m.watch()
		m.remember(c, f)
	}
	for w, ok := m.nextWatch(call); ok; w, ok = m.nextWatch(call) {
		t := &m.net.net.Transitions[w.Transition]
		if !t.Enabled(m.data.Marking) {
			continue
		}
		t.Fire(m.marking())
		m.watch()
		m.remember(c, w)
	}
}

// nextWatch takes the first watch of the call out of the list.
func (m *move) nextWatch(call Flight) (Flight, bool) {
	for i, w := range m.data.Watches {
		if w.of(&call) {
			rest := append([]Flight(nil), m.data.Watches[:i]...)
			m.data.Watches = append(rest, m.data.Watches[i+1:]...)
			return w, true
		}
	}
	return Flight{}, false
}

// unwatch ends all watches of the call.
func (m *move) unwatch(call Flight) {
	m.data.Watches = keep(m.data.Watches, func(w Flight) bool { return !w.of(&call) })
}

// remember runs the hook of a success. A hook that panics leaves the meta data
// as it was: the tool has run, and its tokens are produced all the same.
func (m *move) remember(c *OpenCall, f Flight) {
	if m.net.OnSuccess == nil {
		return
	}
	defer func() { _ = recover() }()
	meta := m.data.Meta.clone()
	m.net.OnSuccess(Firing{
		Call: c.Call, Name: f.Name,
		Net: m.net.Name, Transition: m.net.Transitions[f.Transition].Name,
		Marking: m.net.show(m.data), Meta: meta,
	})
	m.data.Meta = meta
}
