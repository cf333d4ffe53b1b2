package gate

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// An End describes how a call ended.
type End struct {
	Outcome Outcome

	// Time is the time when the call ended. If it is zero, a clock whose tokens the outcome changes
	// restarts, and thus ticks late rather than early.
	Time time.Time

	// Result is the result of a success, one JSON value; nil: unknown. A result that is longer than
	// a megabyte, or that JSON parsers might read differently, counts as unknown. See
	// [Policy.ReadsResults].
	Result []byte

	// Text is the text of the result of a success, for [Policy.Judged].
	Text string

	// Broken is the condition that made [Policy.Judged] turn a success into a failure, or nil.
	Broken *Condition

	// All means that all calls that this call represents have ended in the same way, as an operator
	// has found out. See [OpenCall.More].
	All bool
}

// A PreparedEnd is an end whose result has already been parsed for the nets of the policy, before a
// state is locked. It must not be used by several goroutines at once.
type PreparedEnd struct {
	policy  *Policy
	end     End
	carrier *keyvalue.CallReader // nil: no key is in the result
}

// PrepareEnd reads the result of a call that has ended.
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
		d = q.policy.endUnknown(s, c)
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

// ending is the end of a call for one net, or for one value of its key.
type ending struct {
	call    *OpenCall
	flight  Flight
	outcome Outcome
	over    bool // the call is closed
	time    time.Time
	result  []byte

	// For a value of a key.
	base  *NetData // default state
	keys  uint64   // keys of the net that have the value in the result
	named []KeyValue
}

// applyBoth stores in room the new state after old, including the enforced state of a net in shadow
// mode. It reports whether the net waited for the call.
func (e *ending) applyBoth(n *net, old, room *NetData) bool {
	waited := e.apply(n, old, room)
	if old.Shadow == nil {
		return waited
	}
	shadow, in := *old.Shadow, *e
	if in.base != nil {
		in.base = in.base.Shadow.Enforced
	}
	shadow.Enforced = &NetData{}
	waited = in.apply(n, old.Shadow.Enforced, shadow.Enforced) || waited
	room.Shadow = &shadow
	return waited
}

func (e *ending) apply(n *net, old, room *NetData) bool {
	m := newMove(n, old, room)
	m.setBaseWatches(watchesOf(e.base), false)
	if !m.end(e) {
		return false
	}
	m.updateClock(old, e.time)
	return true
}

// end applies the outcome of a call to one net. It reports whether the net waited for the call.
func (m *move) end(e *ending) bool {
	call, o := e.flight, e.outcome
	found := e.matchingWatches(m.net)
	if !m.data.Waits(&call) && len(found) == 0 {
		return false
	}
	if e.over && len(m.data.Spoilers()) > 0 {
		netstate.SetSpoilers(m.data, netstate.Filter(m.data.Spoilers(), func(f Flight) bool { return !f.SameCall(&call) }))
	}
	var done []Flight
	m.data.Flights = netstate.Filter(m.data.Flights, func(f Flight) bool {
		if !f.SameCall(&call) || o == Unknown && !m.net.Transitions[f.Transition].Release {
			return true
		}
		done = append(done, f)
		return false
	})
	if o == Success {
		m.succeed(e, done)
		m.fireFound(e, found)
	} else {
		for _, f := range done {
			if !m.paysDebt(f.Transition) {
				m.net.net.Transitions[f.Transition].GiveBack(m.marking())
			}
		}
		m.endWatches(call)
	}
	m.fireStructural()
	return true
}

// succeed completes the transitions of the call and fires those that watched it.
func (m *move) succeed(e *ending, done []Flight) {
	for _, f := range done {
		if !m.paysDebt(f.Transition) {
			m.net.net.Transitions[f.Transition].Put(m.marking())
		}
		m.endDisabledWatches()
		m.callOnSuccess(e, f)
	}
	for w, ok := m.nextWatch(e.flight); ok; w, ok = m.nextWatch(e.flight) {
		m.credit(e, w)
	}
}

// credit fires the transition of a watch of the call, if it is enabled.
func (m *move) credit(e *ending, w Flight) {
	t := &m.net.net.Transitions[w.Transition]
	if !t.Enabled(m.data.Marking) {
		return
	}
	if !m.paysDebt(w.Transition) {
		t.Fire(m.marking())
	}
	m.endDisabledWatches()
	m.callOnSuccess(e, w)
}

// nextWatch removes and returns the first watch of the call.
func (m *move) nextWatch(call Flight) (Flight, bool) {
	for i, w := range m.data.Watches {
		if w.SameCall(&call) {
			rest := append([]Flight(nil), m.data.Watches[:i]...)
			m.data.Watches = append(rest, m.data.Watches[i+1:]...)
			return w, true
		}
	}
	return Flight{}, false
}

// endWatches ends all watches of the call.
func (m *move) endWatches(call Flight) {
	m.data.Watches = netstate.Filter(m.data.Watches, func(w Flight) bool { return !w.SameCall(&call) })
}

// callOnSuccess calls the hook for a success. If the hook panics, the metadata is unchanged, but the
// tokens are produced nevertheless because the tool has run.
func (m *move) callOnSuccess(e *ending, f Flight) {
	if m.net.OnSuccess == nil {
		return
	}
	defer func() { _ = recover() }()
	meta := cloneMeta(m.data.Meta)
	m.net.OnSuccess(Firing{
		Call: e.call.Call, Name: f.Name, Key: e.named, Result: e.result,
		Net: m.net.Name, Transition: m.net.Transitions[f.Transition].Name,
		Marking: m.net.show(m.data), Meta: meta,
	})
	m.data.Meta = meta
}
