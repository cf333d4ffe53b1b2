package gate

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// commit fires the transitions chosen in all nets. It refuses the call instead if the structural
// transitions of a net (which fire by themselves) would not stop firing, or if a net with a key
// would store too many key values. A refused call fires no transition; see
// [judgement.refusalDelta].
func (j *judgement) commit(g *Grant, asked *OpenAsk, metas []Meta) (Decision, *Delta) {
	// The open call is allocated separately from the delta, because the state retains it until the
	// call ends and would otherwise keep the delta's nets alive.
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
	if j.keyed != nil {
		over := j.overfull(d)
		if len(over) > 0 && !j.replayed {
			return j.refuseOverfull(over[0]), j.refusalDelta(asked)
		}
		j.dropNewValues(d, over)
	}
	var shadow findings
	var would *Refusal
	if len(j.shadows) > 0 || j.policy.shadow {
		shadow, would = j.shadow(d, open.Number)
	}
	j.recordWaiting(d, open)
	if len(j.policy.awaits) > 0 {
		j.addNear(d)
	}
	a := &struct {
		allow  Allow
		ticket Ticket
	}{Allow{Names: j.names(), Nets: j.findings.verdicts(shadow), Would: would}, Ticket{Number: open.Number, Awaited: len(open.Nets) > 0}}
	a.allow.Ticket = &a.ticket
	return &a.allow, d
}

// recordWaiting records in the open call which nets wait for the call to end. It also drops the
// call's arguments, unless a hook needs them or a key reads both the arguments and the result.
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

// refusalDelta returns the change that a refusal makes to the state: it advances the clocks and,
// unless a is nil, removes the approval request a.
func (j *judgement) refusalDelta(a *OpenAsk) *Delta {
	if a == nil && len(j.ticked) == 0 {
		return nil
	}
	d := &Delta{Nets: j.ticked}
	if a != nil {
		d.Answered = a.Number
	}
	return d
}

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
				metas[i] = nil // the call is made anyway (see [ShadowData]), but without changing the net's metadata
				break
			}
			if reason != "" {
				return nil, j.refuse(KindValidation, []Block{f.rejected(c.name, reason)})
			}
		}
	}
	return metas, nil
}

// rejection returns the reason why the validator of the net d rejects the firing f, or "" if the
// validator accepts it. A panic counts as a rejection.
func (d *definition) rejection(f Firing) (reason string) {
	defer func() {
		if recover() != nil {
			reason = fmt.Sprintf("The validator of net '%s' failed.", d.Name)
		}
	}()
	err := d.Validate(f)
	if err == nil {
		return ""
	}
	return cmp.Or(err.Error(), d.reason(f.Name))
}

// rejected returns the [Block] for a call that a validator rejects.
func (f *finding) rejected(name, reason string) Block {
	b := f.net.block(name, f.fillKey(reason))
	b.Key = f.keyValues()
	return b
}

func (f *finding) firing(c *Call, chosen choice, meta Meta) Firing {
	all := list.Map(f.labels, func(l naming.Label) string { return l.Text })
	return Firing{
		Call: *c, Name: chosen.name, Names: all,
		Net: f.net.Name, Transition: f.net.Transitions[chosen.transition].Name,
		Marking: f.net.show(f.data), Meta: meta, Key: f.keyValues(),
	}
}

// applyMoves adds to d the changes that the call makes to the nets. If a net's structural
// transitions, which fire by themselves, would not stop firing, applyMoves returns the net's
// finding, and the caller refuses the call. During a replay, and for the actual states of nets in
// shadow mode (see [ShadowData]), the call is made anyway, so applyMoves skips the net instead.
func (j *judgement) applyMoves(d *Delta, number uint64, metas []Meta) *finding {
	var room []NetData
	var base *NetData // default state (see [NetData]) of the current net, if the call has changed that state
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
			base = f.base
		}
		m := newMove(f.net, f.data, &room[i])
		if !j.move(&m, f, base, number) {
			if j.world == actual || j.replayed {
				continue
			}
			return f
		}
		if metas != nil && metas[i] != nil {
			m.data.Meta = metas[i]
		}
		key := ""
		switch {
		case f.value != nil:
			key = f.value.Text
			f.addsValue = f.base == f.data && !netstate.EqualsDefault(m.data, f.base)
		case f.plan != nil:
			base = m.data
			if c := j.baseChange(&f.subject, number); !c.isEmpty() && j.world == acting {
				base.Values = f.net.valuesAfter(f.base, base, c)
			}
		}
		d.set(f.net.index, key, m.data)
	}
	return nil
}

// move changes the net for the finding f. It first starts the transitions chosen for the call, then
// those with [Transition.Spoils]. For a net with a key, base is the default state (see [NetData]),
// which the call may already have changed. move reports whether the structural transitions, which
// fire by themselves, stop firing afterwards.
func (j *judgement) move(m *move, f *finding, base *NetData, number uint64) bool {
	call := j.state.flight(f.net, number, j.call.Time)
	if f.plan != nil {
		m.startKeyed(f, base, call)
	}
	for _, c := range f.choices {
		m.start(c, call)
	}
	if f.net.spoils {
		m.spoil(f.spoils(), call)
	}
	if m.data.Active && !m.fireStructural() {
		return false
	}
	if f.net.Sum != nil {
		m.addSpent(f.parts().amount, j.call.Time)
	}
	if f.net.Row {
		m.recordRow(f, j.row)
	}
	if len(f.net.timed) > 0 {
		m.updateClock(f.data, j.call.Time)
	}
	return true
}

// unrest returns the refusal for a net whose structural transitions (which fire by themselves)
// would not stop firing.
func (j *judgement) unrest(f *finding) *Refusal {
	return j.refuse(KindBlocked, []Block{f.net.block(slices.Concat(f.choices, f.spoils())[0].name, f.net.unrest())})
}

// startKeyed prepares m to change one state of a net with a key: the default state or the state for
// a key value. It copies this state from f. It also stores in m the observers that wait for calls
// in base, the net's default state. These calls can count for every key value; see [NetData].
func (m *move) startKeyed(f *finding, base *NetData, call Flight) {
	*m.data = f.copyState()
	m.setBaseWatches(watchesBefore(base.Watches, &call), f.value == nil)
	m.baseWatches = base.Watches
	m.recordMissed(f, call)
}

// watchesBefore returns the given observers without those that wait for the call. The observers
// that wait for the call must be at the end of the list.
func watchesBefore(watches []Flight, call *Flight) []Flight {
	for len(watches) > 0 && watches[len(watches)-1].SameCall(call) {
		watches = watches[:len(watches)-1]
	}
	return watches
}

// recordMissed records the observers that will not fire for f's key value when the call succeeds.
// These observers wait for the call in the net's default state but were not chosen for this value.
func (m *move) recordMissed(f *finding, call Flight) {
	for missed := f.parts().missed; missed != 0; missed &= missed - 1 {
		w := f.plan.watches[bits.TrailingZeros64(missed)]
		call.Transition, call.Name = w.transition, w.name
		if slices.Contains(m.baseWatches, call) {
			m.addLapsed(call)
		}
	}
}

// start starts the transition that was chosen for the call. A deferred transition waits for the
// outcome. Any other transition fires at once or, if it would refill a limit in debt, reduces the
// debt instead; see [Debt].
func (m *move) start(c choice, flight Flight) {
	def, t := &m.net.Transitions[c.transition], &m.net.net.Transitions[c.transition]
	flight.Transition, flight.Name = c.transition, c.name
	switch {
	case def.Deferred && def.Observe:
		m.data.Watches = append(slices.Clip(m.data.Watches), flight)
	case def.Deferred:
		t.Take(m.marking())
		m.data.Flights = append(slices.Clip(m.data.Flights), flight)
	case m.data.Extras != nil && m.paysDebt(c.transition):
	default:
		t.Fire(m.marking())
		m.endDisabledWatches()
	}
}

// pass removes the findings that block the call, because the call is made anyway. It keeps the
// findings that change their net; see [finding.moves].
func (fs *findings) pass() {
	passed := (*fs)[:0]
	for _, f := range *fs {
		if f.kind != Blocked || f.moves() {
			passed = append(passed, f)
		}
	}
	*fs = passed
}
