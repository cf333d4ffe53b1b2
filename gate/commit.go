package gate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/petri"
)

// validate calls the validators of the nets that gate the call. It returns the resulting metadata
// for each finding, or nil if no net has a validator.
func (j *judgement) validate() ([]Meta, *Refusal) {
	var metas []Meta
	for i := range j.findings {
		f := &j.findings[i]
		if f.net.Validate == nil {
			continue
		}
		if metas == nil {
			metas = make([]Meta, len(j.findings))
		}
		metas[i] = cloneMeta(f.data.Meta)
		for _, c := range f.choices {
			reason := f.net.rejection(f.firing(j.call, c, metas[i]))
			if reason != "" && j.world == actual {
				metas[i] = nil // in this world, the call would not have changed the metadata
				break
			}
			if reason != "" {
				return nil, j.refuse(KindValidation, []Block{f.rejected(c.name, reason)})
			}
		}
	}
	return metas, nil
}

// rejection returns the reason why the validator of the net rejects a firing, or "" if it accepts.
// A panic counts as a rejection.
func (n *net) rejection(f Firing) (reason string) {
	defer func() {
		if recover() != nil {
			reason = fmt.Sprintf("The validator of net '%s' failed.", n.Name)
		}
	}()
	err := n.Validate(f)
	if err == nil {
		return ""
	}
	return cmp.Or(err.Error(), n.reason(f.Name))
}

// rejected returns the block for a rejection by a validator.
func (f *finding) rejected(name, reason string) Block {
	b := f.net.block(name, f.fillKey(reason))
	b.Key = f.keyValues()
	return b
}

func (f *finding) firing(c *Call, chosen choice, meta Meta) Firing {
	all := make([]string, len(f.labels))
	for i := range f.labels {
		all[i] = f.labels[i].Text
	}
	return Firing{
		Call: *c, Name: chosen.name, Names: all,
		Net: f.net.Name, Transition: f.net.Transitions[chosen.transition].Name,
		Marking: f.net.show(f.data), Meta: meta, Key: f.keyValues(),
	}
}

// commit moves all nets, or none if one of them would not come to rest.
func (j *judgement) commit(g *Grant, asked *OpenAsk, metas []Meta) (Decision, *Delta) {
	// Allocated separately from the delta, because the state keeps it until the call ends and would
	// otherwise keep the nets of the delta alive.
	open := &OpenCall{Number: j.state.Last + 1, Call: *j.call}
	d := &Delta{Opened: open, Nets: j.ticked}
	if asked != nil {
		d.Answered, open.Number = asked.Number, asked.Number
	}
	if g != nil {
		d.Spent = g.Number
	}
	if f := j.applyMoves(d, open.Number, metas); f != nil {
		return j.unrest(f), j.refusalDelta(asked)
	}
	over := j.overfull(d)
	if len(over) > 0 && !j.replayed {
		return j.refuseOverfull(over[0]), j.refusalDelta(asked)
	}
	j.dropNewValues(d, over)
	shadow, would := j.shadow(d, open.Number)
	j.recordWaiting(d, open)
	j.near(d)
	a := &struct {
		allow  Allow
		ticket Ticket
	}{Allow{Names: j.names(), Nets: verdicts(j, shadow), Would: would}, Ticket{Number: open.Number, Awaited: len(open.Nets) > 0}}
	a.allow.Ticket = &a.ticket
	return &a.allow, d
}

// applyMoves adds to d the moves of the nets that gate the call. If a net would not come to rest, and
// that matters, moves returns it.
func (j *judgement) applyMoves(d *Delta, number uint64, metas []Meta) *finding {
	var room []NetData
	var base *NetData // default state of the current net, if it was moved
	for i := range j.findings {
		f := &j.findings[i]
		if !f.moves() {
			continue
		}
		if room == nil {
			room = make([]NetData, len(j.findings))
			d.Nets = slices.Grow(slices.Clip(d.Nets), len(j.findings))
		}
		if base == nil || i == 0 || j.findings[i-1].net != f.net {
			base = f.base()
		}
		flight := j.state.flight(f.net, number, j.call.Time)
		m := f.move(&room[i], base, flight)
		if !m.startChosen(f, flight) {
			if j.world == actual || j.replayed {
				continue
			}
			return f
		}
		if f.special != nil {
			m.addSpent(f.special.amount, j.call.Time)
		}
		if f.net.Row {
			m.recordRow(f, j.row)
		}
		m.updateClock(f.data, j.call.Time)
		if metas != nil && metas[i] != nil {
			m.data.Meta = metas[i]
		}
		if f.value() == nil && f.plan() != nil {
			base = m.data
			if len(f.plan().spoils) > 0 && j.world == acting {
				base.Values = f.net.spoilValues(f.base(), base, f.plan().spoils, j.call.Time, false)
			}
		}
		f.addsValue = f.base() == f.data && f.value() != nil && !netstate.EqualsDefault(m.data, f.base())
		d.set(f.net.index, f.keyText(), m.data)
	}
	return nil
}

// recordWaiting records the nets that wait for the end of the call. It drops the arguments unless a hook
// needs them.
func (j *judgement) recordWaiting(d *Delta, open *OpenCall) {
	remembers := false
	for _, delta := range d.Nets {
		n := j.policy.nets[delta.Net]
		call := Flight{Owner: j.state.Owners[n.Scope], Call: open.Number}
		if delta.Data.Waits(&call) || n.Shadow && delta.Data.Shadow.Enforced.Waits(&call) {
			open.Nets = append(open.Nets, delta.Net)
			if len(n.keys) > 0 || open.Keys != nil {
				open.wait(delta.Key)
			}
			remembers = remembers || n.OnSuccess != nil || n.mixed
		}
	}
	if !remembers {
		open.Call.Args = nil
	}
}

// unrest returns the refusal for a net that would not come to rest.
func (j *judgement) unrest(f *finding) *Refusal {
	return j.refuse(KindBlocked, []Block{f.net.block(slices.Concat(f.choices, f.spoils())[0].name, f.net.unrest())})
}

// move is one step of one net, performed on a copy of its state.
type move struct {
	net  *net
	data *NetData
	own  bool // the marking was copied, too

	// For a net with a key.
	baseWatches []Flight // watches in the default state, which can lapse
	isBase      bool     // data is the default state
}

// newMove starts a move on a copy of old, which it stores in room.
func newMove(n *net, old, room *NetData) move {
	*room = *old
	return move{net: n, data: room}
}

// marking returns a marking that may be modified.
func (m *move) marking() petri.Marking {
	if !m.own {
		m.data.Marking = slices.Clone(m.data.Marking)
		m.own = true
	}
	return m.data.Marking
}

// startChosen starts the transitions chosen for the call, then those that spoil evidence. It reports
// whether the net then comes to rest.
func (m *move) startChosen(f *finding, call Flight) bool {
	for _, c := range f.choices {
		m.start(c, call)
	}
	if f.special != nil {
		m.spoil(f.special.spoils, call)
	}
	return !m.data.Active || m.fireStructural()
}

// start starts one transition chosen for the call.
func (m *move) start(c choice, flight Flight) {
	def, t := &m.net.Transitions[c.transition], &m.net.net.Transitions[c.transition]
	flight.Transition, flight.Name = c.transition, c.name
	switch {
	case def.Deferred && def.Observe:
		m.data.Watches = append(slices.Clip(m.data.Watches), flight)
	case def.Deferred:
		t.Take(m.marking())
		m.data.Flights = append(slices.Clip(m.data.Flights), flight)
	case m.paysDebt(c.transition):
	default:
		t.Fire(m.marking())
		m.endDisabledWatches()
	}
}

// endDisabledWatches ends the watches whose transition is disabled after a firing.
func (m *move) endDisabledWatches() {
	m.lapseDisabled()
	if len(m.data.Watches) == 0 || m.isBase {
		return
	}
	present := petri.Marking(m.data.Marking)
	m.data.Watches = netstate.Filter(m.data.Watches, func(w Flight) bool {
		return m.net.net.Transitions[w.Transition].Enabled(present)
	})
}

// fireStructural fires the structural transitions. If they do not come to rest, the net keeps its marking
// and becomes stuck. settle reports whether they came to rest.
func (m *move) fireStructural() bool {
	m.data.Stuck = m.net.net.AnyEnabled(m.data.Marking, m.net.structural) && !m.net.advance(m.marking(), m.data.Flights)
	return !m.data.Stuck
}

// advance fires the structural transitions in m until it is at rest. It reports whether that
// happened within [toolnet.MaxRounds]; if not, m is unchanged. The tokens of calls in flight count
// as present, because a call that fails must not have moved the net.
func (n *net) advance(m petri.Marking, flights []Flight) bool {
	present := func(m petri.Marking) petri.Marking {
		return n.withInFlight(&NetData{Marking: m, Flights: flights})
	}
	return n.net.Advance(m, n.structural, toolnet.MaxRounds, present)
}
