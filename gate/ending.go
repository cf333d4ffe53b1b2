package gate

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/internal/list"
)

// ending is the end of a call as seen by a net or, for a net with a key, by the state for a single
// key value.
type ending struct {
	call    *OpenCall
	flight  Flight
	outcome Outcome
	over    bool // whether the call is removed from the open calls
	time    time.Time
	result  []byte

	// The following fields are set only if the outcome is applied to the state for a single key
	// value.
	base  *NetData // the net's default state; see [NetData]
	keys  uint64   // bit set of the net's keys that read this value from the call's result; see [Transition.Key]
	named []KeyValue
}

// applyBoth applies the outcome to the state old and stores the resulting state in *room. If the
// net is in shadow mode, applyBoth also updates the enforced state, which would have resulted if
// the net had blocked calls; see [ShadowData]. It reports whether the net waited for the call.
func (e *ending) applyBoth(n *net, old, room *NetData) bool {
	waited := e.apply(n, old, room)
	if old.Shadow == nil {
		return waited
	}
	enforced, in := &NetData{}, *e
	if in.base != nil {
		in.base = in.base.Shadow.Enforced
	}
	room.Shadow = netstate.WithEnforced(old.Shadow, enforced)
	return in.apply(n, old.Shadow.Enforced, enforced) || waited
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

// end applies the outcome of the call to m's net. It reports whether the net waited for the call.
func (m *move) end(e *ending) bool {
	call, o := e.flight, e.outcome
	found := e.matchingWatches(m.net)
	if !m.data.Waits(&call) && len(found) == 0 {
		return false
	}
	if e.over && len(m.data.Spoilers()) > 0 {
		netstate.SetSpoilers(m.data, list.Filter(m.data.Spoilers(), func(f Flight) bool { return !f.SameCall(&call) }))
	}
	var done []Flight
	m.data.Flights = list.Filter(m.data.Flights, func(f Flight) bool {
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
		m.data.Watches = list.Filter(m.data.Watches, func(w Flight) bool { return !w.SameCall(&call) })
	}
	m.fireStructural()
	return true
}

// succeed completes the transitions that were in flight for the call, and fires the observers that
// waited for the call to succeed.
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

// credit fires the observer recorded in w, because the call that it waited for has succeeded. If
// this would refill a limit that is in debt (see [Debt]), credit reduces the debt instead. If the
// observer is not enabled, credit does nothing.
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

// nextWatch removes and returns the call's first watch, an observer waiting for the call to end.
func (m *move) nextWatch(call Flight) (Flight, bool) {
	for i, w := range m.data.Watches {
		if w.SameCall(&call) {
			m.data.Watches = slices.Concat(m.data.Watches[:i], m.data.Watches[i+1:])
			return w, true
		}
	}
	return Flight{}, false
}

// callOnSuccess calls the net's OnSuccess hook. If the hook panics, the metadata is left unchanged,
// but the tokens are produced because the tool has run.
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

// matchingWatches returns the observers that wait for the call and find e's key value in its
// result. It returns nil if the call did not succeed.
func (e *ending) matchingWatches(n *net) []Flight {
	if e.keys == 0 || e.outcome != Success {
		return nil
	}
	return list.Filter(e.base.Watches, func(w Flight) bool {
		return w.SameCall(&e.flight) && e.keys&(1<<n.keyOf[w.Transition]) != 0
	})
}

// fireFound fires the given observers, because their call has succeeded. It skips those that must
// not fire for this key value, for example because they were disabled during the call; see
// [Extras].
func (m *move) fireFound(e *ending, found []Flight) {
	for _, w := range found {
		if !slices.Contains(m.data.Lapsed(), w) {
			m.credit(e, w)
		}
	}
}
