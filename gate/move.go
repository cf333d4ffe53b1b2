package gate

import (
	"math/big"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/petri"
)

// move is a single step of a net, performed on a copy of its state.
type move struct {
	net  *net
	data *NetData
	own  bool // whether the move has its own copy of the marking

	// The following fields are set only for a net with a key.
	baseWatches []Flight // observers that wait for calls in the net's default state
	isBase      bool     // whether the step changes the net's default state (see [NetData]), not the state for one key value
}

// newMove returns a step of n that changes a copy of the state old. The copy is stored in room.
func newMove(n *net, old, room *NetData) move {
	*room = *old
	return move{net: n, data: room}
}

// marking returns the move's own copy of the marking, which may be modified.
func (m *move) marking() petri.Marking {
	if !m.own {
		m.data.Marking = slices.Clone(m.data.Marking)
		m.own = true
	}
	return m.data.Marking
}

// endDisabledWatches removes the observers that a firing has disabled, so that they no longer wait
// for their calls. Observers in the default state of a net with a key (see [NetData]) keep waiting,
// because their calls can still count for other key values. For them, endDisabledWatches only
// records that the calls do not count in the state that m changes.
func (m *move) endDisabledWatches() {
	if len(m.baseWatches) > 0 {
		m.lapseDisabled()
	}
	if len(m.data.Watches) == 0 || m.isBase {
		return
	}
	present := petri.Marking(m.data.Marking)
	m.data.Watches = list.Filter(m.data.Watches, func(w Flight) bool {
		return m.net.net.Transitions[w.Transition].Enabled(present)
	})
}

// fireStructural fires the structural transitions (which fire by themselves) and reports whether
// they stop firing; see [net.advance]. If they do not stop, fireStructural leaves the marking
// unchanged and marks the net as stuck.
func (m *move) fireStructural() bool {
	enabled := func(t int) bool { return m.net.net.Transitions[t].Enabled(m.data.Marking) }
	m.data.Stuck = slices.ContainsFunc(m.net.structural, enabled) && !m.net.advance(m.marking(), m.data.Flights)
	return !m.data.Stuck
}

// setBaseWatches stores in m the observers that wait for calls in the default state; see [NetData].
// isBase is true if m changes the default state, and false if it changes the state for a key value.
//
// setBaseWatches also updates the list of lapsed observers, which must not fire in the state that m
// changes even if their calls succeed; see [Extras]. It removes observers that no longer wait, and
// adds disabled ones (see [move.wasEnabled]). While a call in flight prevents other calls from
// meeting requirements, it adds all observers.
func (m *move) setBaseWatches(watches []Flight, isBase bool) {
	m.baseWatches, m.isBase = watches, isBase
	if len(m.data.Lapsed()) > 0 {
		netstate.SetLapsed(m.data, list.Filter(m.data.Lapsed(), func(w Flight) bool { return slices.Contains(watches, w) }))
	}
	m.lapseUnless(m.wasEnabled)
}

// lapseDisabled records which observers in m.baseWatches have lapsed, that is, must not fire when
// their calls succeed. These are the disabled observers or, while a call in flight prevents other
// calls from meeting requirements, all observers. The record concerns only the state that m
// changes; see [Extras].
func (m *move) lapseDisabled() { m.lapseUnless(m.isEnabled) }

// lapseUnless is like [move.lapseDisabled], but uses the given function to find out whether an
// observer is enabled.
func (m *move) lapseUnless(enabled func(Flight) bool) {
	for _, w := range m.baseWatches {
		if len(m.data.Spoilers()) > 0 || !enabled(w) {
			m.addLapsed(w)
		}
	}
}

// isEnabled reports whether the observer recorded in w is enabled.
func (m *move) isEnabled(w Flight) bool {
	return m.net.net.Transitions[w.Transition].Enabled(m.data.Marking)
}

// wasEnabled reports whether the observer recorded in w would be enabled if later calls of the same
// session held no tokens. A later call must not end the observer's wait. A call counts as later if
// its number is higher; see [net.withLateWatches] for an exception.
func (m *move) wasEnabled(w Flight) bool {
	if m.isEnabled(w) {
		return true
	}
	before := petri.Marking(slices.Clone(m.data.Marking))
	for _, f := range m.data.Flights {
		if f.Owner == w.Owner && f.Call > w.Call {
			m.net.net.Transitions[f.Transition].GiveBack(before)
		}
	}
	return m.net.net.Transitions[w.Transition].Enabled(before)
}

// addLapsed records that the observer in w must not fire when its call succeeds. The record
// concerns only the state that m changes; see [Extras].
func (m *move) addLapsed(w Flight) {
	if !slices.Contains(m.data.Lapsed(), w) {
		netstate.SetLapsed(m.data, append(slices.Clip(m.data.Lapsed()), w))
	}
}

// paysDebt reduces the debt by one if the transition returns a token to a budget that is in debt.
// It reports whether it did so.
func (m *move) paysDebt(transition int) bool {
	debt := m.data.Debt()
	if debt == nil || m.net.budget == nil || m.net.Sum != nil {
		return false
	}
	gives := slices.ContainsFunc(m.net.net.Transitions[transition].Out, func(a petri.Arc) bool { return a.Place == m.net.budget.place })
	if !gives {
		return false
	}
	var rest *Debt
	if left := new(big.Rat).Sub(debt.Amount, big.NewRat(1, 1)); left.Sign() > 0 {
		rest = &Debt{Amount: left, Until: debt.Until}
	}
	netstate.SetDebt(m.data, rest)
	return true
}

// restartClocks starts, at time t, the clocks of the transitions with [Transition.Every] that the
// move has enabled, and stops the clocks of those that it has disabled. The clock in m.data must be
// a copy.
func (m *move) restartClocks(t time.Time) {
	for k, number := range m.net.timed {
		since := &m.data.Clock.Since[k]
		switch on := m.net.net.Transitions[number].Enabled(m.data.Marking); {
		case !on:
			*since = time.Time{}
		case since.IsZero():
			*since = t
		}
	}
}

// updateClock updates the clocks of timed transitions after a step at time t; see
// [move.restartClocks]. old is the state before the step. If t is zero, that is, unknown, each
// timed transition whose input tokens have changed restarts its clock at the next known time. It
// thus never fires too early.
func (m *move) updateClock(old *NetData, t time.Time) {
	if len(m.net.timed) == 0 || !m.data.Active {
		return
	}
	known := !t.IsZero()
	t = netstate.Latest(old.Clock, t)
	m.data.Clock = netstate.CopyClock(old.Clock, len(m.net.timed), t)
	if known {
		m.restartClocks(t)
		return
	}
	for k, number := range m.net.timed {
		for _, in := range m.net.net.Transitions[number].In {
			if m.data.Marking[in.Place] != old.Marking[in.Place] {
				m.data.Clock.Since[k] = time.Time{}
			}
		}
	}
}
