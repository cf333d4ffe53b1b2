package gate

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/internal/petri"
)

// maxTicks bounds the firings by the clock in one step. A net that is further
// behind refuses until later steps have caught up.
const maxTicks = 1000

// maxTokens bounds the tokens of one place that the clock produces.
const maxTokens = math.MaxInt32

// prepareClock finds out whether no timed transition changes the inputs of another
// transition without tools: then the structural ones stay at rest
// while time passes, and each of the timed ones ticks as if it were alone.
func (n *net) prepareClock() {
	n.alone = true
	for _, t := range n.timed {
		for _, u := range slices.Concat(n.structural, n.timed) {
			n.alone = n.alone && (t == u || !n.net.Transitions[t].Touches(&n.net.Transitions[u]))
		}
	}
}

// Tick moves the active nets of s to the time t, see [Session.Tick].
func (p *Policy) Tick(s *State, t time.Time) *Delta {
	d := &Delta{}
	for _, i := range p.timed {
		if data := s.Nets[i]; data.Active {
			if len(p.nets[i].keys) > 0 {
				p.nets[i].tickKeyed(d, data, t)
			} else if moved := p.nets[i].at(data, nil, t); moved != data {
				d.set(i, "", moved)
			}
		}
	}
	return d
}

// at returns the state of the net at the time t: d, moved as far as its clock
// allows, or d itself if the clock changes nothing. An inactive net has no clock.
// For one value of a net with a key, base is the net at large.
func (n *net) at(d, base *NetData, t time.Time) *NetData {
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
	both, shadow := *moved, *d.Shadow
	shadow.Enforced = enforced
	both.Shadow = &shadow
	return &both
}

// watchesOf returns the watches; those of nothing are none.
func watchesOf(d *NetData) []Flight {
	if d == nil {
		return nil
	}
	return d.Watches
}

// tick moves the net to the time t, or to the latest it has seen. Of the watches that
// can lapse, none can before its call was admitted. The net is large if d is that of a
// net with a key at large.
func (n *net) tick(d *NetData, over []Flight, large bool, t time.Time) *NetData {
	d = n.regained(d, t)
	if debt := d.Debt(); debt != nil && paid(debt, t) {
		c := *d
		netstate.SetDebt(&c, nil)
		d = &c
	}
	for i, w := range over {
		if !w.Since.IsZero() && w.Since.Before(t) {
			d = n.tickOver(d, over[:i], large, w.Since)
		}
	}
	return n.tickOver(d, over, large, t)
}

func (n *net) tickOver(d *NetData, over []Flight, large bool, t time.Time) *NetData {
	t = netstate.Latest(d.Clock, t)
	if !n.due(d, t) {
		return d
	}
	w := newClockwork(n, d, t)
	w.watchOver(over, large)
	if d.Stuck {
		w.settle()
	}
	w.reclock(t)
	w.run(t)
	return w.data
}

// due reports whether the clock changes anything by the time t.
func (n *net) due(d *NetData, t time.Time) bool {
	for k, number := range n.timed {
		since := netstate.Since(d.Clock, k)
		if n.net.Transitions[number].Enabled(d.Marking) && (since.IsZero() || t.Sub(since) >= n.Transitions[number].Every) {
			return true
		}
	}
	return false
}

// next returns the timed transition that ticks next, and when; -1 if none does.
func (n *net) next(d *NetData) (k int, due time.Time) {
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

// wait returns how long the clock takes, from the time t, to enable one of the
// transitions. It searches only a few steps.
func (n *net) wait(d *NetData, t time.Time, lists []int) (time.Duration, bool) {
	if len(n.timed) == 0 || t.IsZero() || n.candidate(lists, d, false) >= 0 {
		return 0, false
	}
	const steps = 100
	for range steps {
		k, due := n.next(d)
		if k < 0 || !due.After(t) { // nothing ticks, or the net is behind
			break
		}
		if d = n.tick(d, nil, false, due); n.candidate(lists, d, false) >= 0 {
			return due.Sub(t), true
		}
	}
	return 0, false
}

// clockwork is a net that the clock moves.
type clockwork struct {
	move
	seen map[string]time.Time // when the net was as it is, see [clockwork.skip]
}

func newClockwork(n *net, d *NetData, t time.Time) *clockwork {
	w := &clockwork{move: newMove(n, d, &NetData{})}
	w.data.Clock = netstate.CopyClock(d.Clock, len(n.timed), t)
	return w
}

// run fires the transitions that are due by the time t, in the order of time.
func (w *clockwork) run(t time.Time) {
	for range maxTicks {
		k, due := w.net.next(w.data)
		if k < 0 || due.After(t) {
			return
		}
		w.fire(k, due, t)
		if w.data.Stuck {
			return
		}
		if !w.net.alone {
			w.skip(due, t)
		}
	}
	// Nothing is known of the time in between: nothing passes.
	_, due := w.net.next(w.data)
	w.data.Stuck = !due.After(t)
}

// fire fires one transition by the clock. If no timed transition depends on another,
// all its firings until t are one step.
func (w *clockwork) fire(k int, due, t time.Time) {
	number, since := w.net.timed[k], w.data.Clock.Since
	every := w.net.Transitions[number].Every
	ticks := time.Duration(1)
	if w.net.alone {
		ticks = t.Sub(since[k]) / every
	}
	since[k] = since[k].Add(ticks * every)
	tr := &w.net.net.Transitions[number]
	if times := int(min(ticks, time.Duration(tr.Times(w.data.Marking, maxTokens)))); times > 0 {
		// Every place changes one way: the first and the last of the
		// firings are the ones after which a watch can lack a token.
		tr.Fire(w.marking())
		w.watch()
		tr.FireTimes(w.marking(), times-1)
		w.watch()
	}
	w.settle()
	w.reclock(due)
}

// skip leaves out whole rounds of a net that the clock moves in a circle: it
// continues from an equal marking at an equal distance to every tick.
func (w *clockwork) skip(now, t time.Time) {
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

// reclock starts the clocks of the timed transitions that the move has enabled
// at the time t, and stops those of the ones it has disabled. The clock of the
// data is the move's own.
func (m *move) reclock(t time.Time) {
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

// clock does [move.reclock] for a step that was taken from old at the time t.
// If that is not known, a clock whose tokens have changed starts again with the
// next known time: it never ticks too early.
func (m *move) clock(old *NetData, t time.Time) {
	if len(m.net.timed) == 0 || !m.data.Active {
		return
	}
	known := !t.IsZero()
	t = netstate.Latest(old.Clock, t)
	m.data.Clock = netstate.CopyClock(old.Clock, len(m.net.timed), t)
	if known {
		m.reclock(t)
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
