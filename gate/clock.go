package gate

import (
	"encoding/binary"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/internal/petri"
)

// maxTicks is the maximum number of clock firings in one step. If more firings are due, the net
// blocks calls until later steps have caught up.
const maxTicks = 1000

// Tick returns the change that advances the active nets of s to time t; see [Session.Tick].
func (p *Policy) Tick(s *State, t time.Time) *Delta {
	d := &Delta{}
	for _, i := range p.timed {
		if data := s.Nets[i]; data.Active {
			if len(p.nets[i].keys) > 0 {
				p.nets[i].tickKeyed(d, data, t)
			} else if moved := p.nets[i].advanced(data, nil, t); moved != data {
				d.set(i, "", moved)
			}
		}
	}
	return d
}

// advanced returns the state d with the clock of n advanced to time t, or d itself if this changes
// nothing. The clock of an inactive net does not run. If n has a key, base is the default state of
// n; see [NetData].
func (n *net) advanced(d, base *NetData, t time.Time) *NetData {
	if !n.moving || t.IsZero() || !d.Active {
		return d
	}
	large := d == base
	moved := n.tick(d, watchesOf(base), large, t)
	if d.Shadow == nil {
		return moved
	}
	if base != nil {
		base = base.Shadow.Enforced
	}
	enforced := n.tick(d.Shadow.Enforced, watchesOf(base), large, t)
	if enforced == d.Shadow.Enforced {
		return moved
	}
	both := *moved
	both.Shadow = netstate.WithEnforced(d.Shadow, enforced)
	return &both
}

func watchesOf(d *NetData) []Flight {
	if d == nil {
		return nil
	}
	return d.Watches
}

// tick returns the state d advanced to time t, or to the time of its own clock if that is later. It
// advances in stages: the observers in baseWatches wait for calls, and each stage ends at the time
// of one of these calls. A firing thus affects only the observers that were already waiting. For a
// net with a key, isBase is true if d is the default state, and baseWatches contains the observers
// that wait in the default state; see [NetData].
func (n *net) tick(d *NetData, baseWatches []Flight, isBase bool, t time.Time) *NetData {
	d = n.refunded(d, t)
	if debt := d.Debt(); debt != nil && paidOff(debt, t) {
		c := *d
		netstate.SetDebt(&c, nil)
		d = &c
	}
	for i, w := range baseWatches {
		if !w.Since.IsZero() && w.Since.Before(t) {
			d = n.tickTo(d, baseWatches[:i], isBase, w.Since)
		}
	}
	return n.tickTo(d, baseWatches, isBase, t)
}

func (n *net) tickTo(d *NetData, baseWatches []Flight, isBase bool, t time.Time) *NetData {
	t = netstate.Latest(d.Clock, t)
	if !n.isDue(d, t) {
		return d
	}
	w := &clockMove{move: newMove(n, d, &NetData{})}
	w.data.Clock = netstate.CopyClock(d.Clock, len(n.timed), t)
	w.setBaseWatches(baseWatches, isBase)
	if d.Stuck {
		w.fireStructural()
	}
	w.restartClocks(t)
	w.run(t)
	return w.data
}

// isDue reports whether any clock change is due by time t.
func (n *net) isDue(d *NetData, t time.Time) bool {
	for k, number := range n.timed {
		since := netstate.Since(d.Clock, k)
		if n.net.Transitions[number].Enabled(d.Marking) && (since.IsZero() || t.Sub(since) >= n.Transitions[number].Every) {
			return true
		}
	}
	return false
}

// nextTick returns the index of the transition with [Transition.Every] that will fire next, and the
// time of that firing. The index is -1 if no such transition is enabled.
func (n *net) nextTick(d *NetData) (k int, due time.Time) {
	k = -1
	for i, number := range n.timed {
		if since := netstate.Since(d.Clock, i); !since.IsZero() {
			if tick := since.Add(n.Transitions[number].Every); k < 0 || tick.Before(due) {
				k, due = i, tick
			}
		}
	}
	return k, due
}

// waitFor returns how long after t the clock will enable one of the given transitions. It returns
// false if one of them is already enabled, if t is zero, or if it finds no such time within a
// limited number of ticks.
func (n *net) waitFor(d *NetData, t time.Time, transitions []int) (time.Duration, bool) {
	if len(n.timed) == 0 || t.IsZero() || n.candidate(transitions, d, false) >= 0 {
		return 0, false
	}
	const steps = 100
	for range steps {
		k, due := n.nextTick(d)
		if k < 0 || !due.After(t) { // no timed transition is enabled, or one is overdue
			break
		}
		if d = n.tick(d, nil, false, due); n.candidate(transitions, d, false) >= 0 {
			return due.Sub(t), true
		}
	}
	return 0, false
}

// A clockMove changes the state of a net when its clock advances; see [move].
type clockMove struct {
	move
	seen map[string]time.Time // time when each earlier state was reached; the key encodes the state's marking and clock; see [clockMove.skipCycles]
}

// run fires the transitions that are due by time t, in chronological order.
func (w *clockMove) run(t time.Time) {
	for range maxTicks {
		k, due := w.net.nextTick(w.data)
		if k < 0 || due.After(t) {
			return
		}
		w.fire(k, due, t)
		if w.data.Stuck {
			return
		}
		if !w.net.independent {
			w.skipCycles(due, t)
		}
	}
	// If maxTicks firings were not enough, the state at time t is unknown, so the net blocks all
	// calls.
	_, due := w.net.nextTick(w.data)
	w.data.Stuck = !due.After(t)
}

// fire fires a timed transition, that is, one with [Transition.Every]. If the timed transitions are
// independent, it performs all firings up to time t in a single step.
func (w *clockMove) fire(k int, due, t time.Time) {
	number, since := w.net.timed[k], w.data.Clock.Since
	every := w.net.Transitions[number].Every
	ticks := time.Duration(1)
	if w.net.independent {
		ticks = t.Sub(since[k]) / every
	}
	since[k] = since[k].Add(ticks * every)
	tr := &w.net.net.Transitions[number]
	if times := int(min(ticks, time.Duration(tr.MaxFirings(w.data.Marking, maxTokens)))); times > 0 {
		// Each place has its lowest token count after the first or after the last firing, so it is
		// enough to look for disabled observers at these two points.
		tr.Fire(w.marking())
		w.endDisabledWatches()
		tr.FireTimes(w.marking(), times-1)
		w.endDisabledWatches()
	}
	w.fireStructural()
	w.restartClocks(due)
}

// skipCycles skips whole cycles of a net whose marking changes periodically. If the marking and the
// time until each tick are the same as at an earlier time, it advances the clock by a multiple of
// the period.
func (w *clockMove) skipCycles(now, t time.Time) {
	key := petri.Marking(w.data.Marking).AppendKey(nil)
	for _, since := range w.data.Clock.Since {
		elapsed := int64(-1)
		if !since.IsZero() {
			elapsed = int64(now.Sub(since))
		}
		key = binary.AppendVarint(key, elapsed)
	}
	if w.seen == nil {
		w.seen = make(map[string]time.Time)
	}
	before, again := w.seen[string(key)]
	w.seen[string(key)] = now
	if round := now.Sub(before); again && round > 0 {
		w.seen = nil
		for k, since := range w.data.Clock.Since {
			if !since.IsZero() {
				w.data.Clock.Since[k] = since.Add(t.Sub(now) / round * round)
			}
		}
	}
}

// tickKeyed advances the clock of a net with a key and adds the changes to d. It advances the
// default state (see [NetData]) and the states of all stored values.
func (n *net) tickKeyed(d *Delta, base *NetData, t time.Time) {
	moved := n.advanced(base, base, t)
	if moved != base {
		d.set(n.index, "", moved)
	}
	for key, old := range base.Values.All() {
		if data := n.advanced(old, moved, t); data != old {
			d.Nets = append(d.Nets, NetDelta{Net: n.index, Key: key, Data: data})
		}
	}
}
