package gate

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// classify evaluates every active net that might apply to the call. An inactive net is evaluated,
// too, if it has a transition with [Transition.Spoils], because it might be activated while the
// call is in flight.
func (j *judgement) classify(s *State) {
	j.state = s
	if cap(j.findings) == 0 {
		j.findings = j.findingRoom[:]
	}
	j.findings, j.room = j.findings[:0], j.choiceRoom[:0]
	j.blocked, j.manual, j.known, j.ticked, j.shadows = false, false, false, nil, nil
	if j.keyed != nil {
		j.keyed.next = 0
	}
	for word, nets := range j.set {
		for ; nets != 0; nets &= nets - 1 {
			n := j.policy.nets[word*64+bits.TrailingZeros64(nets)]
			switch data := s.Nets[n.index]; {
			case !data.Active && !n.spoils:
			case len(n.keys) > 0:
				j.classifyKeyed(n, data)
			case n.moving:
				j.evaluate(subject{net: n, data: j.current(n, "", data, nil)})
			default:
				j.evaluate(subject{net: n, data: data})
			}
		}
	}
}

// evaluate adds the net's verdict on the call to j.findings. It adds nothing if the net abstains
// and the call does not change the net. A net in shadow mode must not affect a decision. During a
// decision, evaluate therefore adds such a net to j.shadows instead; see
// [judgement.evaluateShadow].
func (j *judgement) evaluate(s subject) {
	n := s.net
	if n.Shadow && j.world == acting {
		j.shadows = append(j.shadows, s)
		return
	}
	f := finding{subject: s, labels: j.labels, choices: j.room, label: -1}
	if n.Labels == nil {
		var ok bool
		f.labels, ok = j.ownLabels(s)
		f.broken = !ok
	}
	if n.spoils {
		f.findSpoilers(j.call)
	}
	if s.data.Active {
		if n.Row {
			f.restartRow(j.row)
		}
		j.judge(&f)
	}
	if f.kind != Abstain || f.moves() {
		j.findings = append(j.findings, f)
	}
}

// judge computes the verdict of an active net.
func (j *judgement) judge(f *finding) {
	n := f.net
	if j.policy.deny {
		j.known = j.known || n.MatchFirst && n.Labels == nil && n.listing.Knows(j.tools) || n.listing.Knows(f.labels) || n.inPhase(f.labels)
	}
	switch {
	case f.broken:
		f.kind = Blocked
	case f.plan != nil && f.value == nil:
		f.judgeBase()
	default:
		f.choose(j.scratchRoom[:0])
		if f.plan != nil && len(f.plan.watches) > 0 {
			f.judgeWatches()
		}
		if len(n.Phases) > 0 {
			f.applyPhases(j.call)
		}
		if n.Sum != nil {
			f.checkSum(j.call)
		}
	}
	if n.spoils && len(f.spoils()) > 0 {
		f.kind = max(f.kind, Gated)
	}
	f.manual = n.manual && slices.ContainsFunc(f.choices, func(c choice) bool { return n.Transitions[c.transition].Manual })
	j.room = f.choices[len(f.choices):]
	j.blocked, j.manual = j.blocked || f.kind == Blocked, j.manual || f.manual
}

// current returns the given state of the net after advancing its clock to the time of the call. It
// records any change. If key is not empty, the state is that of a single key value, and base is the
// net's default state; see [NetData].
func (j *judgement) current(n *net, key string, data, base *NetData) *NetData {
	moved := n.advanced(data, base, j.call.Time)
	if moved != data {
		j.ticked = append(j.ticked, NetDelta{Net: n.index, Key: key, Data: moved})
	}
	return moved
}

// verdicts returns one [Verdict] for each net that does not abstain, including the nets in shadow
// mode.
func (fs findings) verdicts(shadow findings) []Verdict {
	all := fs
	if len(shadow) > 0 {
		all = slices.Concat(all, shadow)
		slices.SortStableFunc(all, func(a, b finding) int { return cmp.Compare(a.net.index, b.net.index) })
	}
	if len(all) == 0 {
		return nil
	}
	vs := make([]Verdict, 0, len(all))
	for i := range all {
		if all[i].kind == Abstain {
			continue
		}
		v := all[i].verdict()
		switch last := len(vs) - 1; {
		case last < 0 || vs[last].Net != v.Net:
			vs = append(vs, v)
		case v.Kind > vs[last].Kind:
			vs[last] = v
		}
	}
	return vs
}

// classifyKeyed evaluates n for each key value in the call.
func (j *judgement) classifyKeyed(n *net, base *NetData) {
	base = j.current(n, "", base, base)
	if j.keyed == nil {
		j.classifyAny(n, base)
		return
	}
	for j.keyed.plans[j.keyed.next].net != n {
		j.keyed.next++
	}
	p := &j.keyed.plans[j.keyed.next]
	if len(p.Values) == 0 || len(p.watches)+len(p.spoils) > 0 || p.missing != nil {
		j.evaluate(subject{net: n, data: base, base: base, plan: p})
	}
	for i := range p.Values {
		v := &p.Values[i]
		data := base
		if stored := netstate.GetHashed(base.Values, v.Hash, v.Text); stored != nil {
			data = j.current(n, v.Text, stored, base)
		}
		j.evaluate(subject{net: n, data: data, base: base, plan: p, value: v})
	}
}

// classifyAny evaluates n for a call with unknown arguments. n blocks the call only if it would
// block the call for every key value.
func (j *judgement) classifyAny(n *net, base *NetData) {
	best := base
	if base.Active {
		for d := range netstate.Distinct(base) {
			d = n.advanced(d, base, j.call.Time)
			f := finding{subject: subject{net: n, data: d.Deciding()}, labels: j.labels, label: -1}
			if n.Labels == nil {
				f.labels, _ = j.ownNames(n)
			}
			f.choose(nil)
			if f.kind != Blocked {
				best = d
				break
			}
		}
	}
	j.evaluate(subject{net: n, data: best})
}

// evaluateShadow evaluates the nets in shadow mode. Depending on w, it uses their actual states or
// the states that would have resulted if these nets had blocked calls; see [ShadowData].
func (j *judgement) evaluateShadow(w world) *judgement {
	k := &judgement{namedCall: j.namedCall, state: j.state, offered: j.offered, world: w, row: j.row, known: j.known}
	k.findings, k.room = k.findingRoom[:0], k.choiceRoom[:0]
	for _, s := range j.shadows {
		if w == enforced {
			s = s.enforced()
		}
		k.evaluate(s)
	}
	return k
}

// choose selects the transition to fire for each of the call's names, in order. It blocks the call
// if the net gates a name but has no enabled transition for it. It also blocks the call if the
// transition for a weak name would add tokens to a place. A name is weak if the call's success does
// not count for it; see [Name] and [Transition.WeakProgress].
func (f *finding) choose(room []int) {
	scratch := scratch{net: f.net, marking: f.data.Marking, room: room}
	spared := f.net.listing.Spared(f.labels)
	observes, forbids := false, false // whether an observer was chosen, and whether a gating transition was chosen
	for i := range f.labels {
		lists, free := f.net.listing.Lookup(&f.labels[i], spared)
		if free {
			f.kind = max(f.kind, Free)
			continue
		}
		if f.plan != nil {
			lists = f.withValue(lists)
		}
		if len(lists) == 0 {
			continue
		}
		t := f.net.candidate(lists, f.data, !f.net.hasEvidence || f.net.listing.OnlyObserve(lists))
		switch {
		case t < 0 && f.net.listing.OnlyObserve(lists) && !f.data.Stuck:
		case t < 0:
			f.block(i)
		case f.net.Transitions[t].Observe:
			// An observer does not fire for a weak name, because the call might not be the one that
			// it waits for; see [Name].
			if !f.labels[i].Weak && !f.chosen(t) && !f.spoiled(t) && scratch.take(t) {
				observes = true
				f.add(t, i)
			}
		case f.chosen(t):
		case f.labels[i].Weak && f.net.progress[t]:
			f.blockDoubtful(i)
		case !scratch.take(t):
			f.block(i)
		default:
			forbids = true
			f.add(t, i)
		}
	}
	if f.kind == Blocked {
		f.choices = f.choices[:0]
		return
	}
	if forbids && observes { // a call that counts against a limit must not refill it
		f.choices = slices.DeleteFunc(f.choices, func(c choice) bool { return f.net.Transitions[c.transition].Observe })
	}
	if forbids && f.net.hasEvidence {
		f.chooseEvidence(spared)
	}
}

// scratch is a copy of the marking. The transitions for the names of a call take their tokens from
// this copy, so that two names cannot spend the same token.
type scratch struct {
	net     *net
	marking []int // must not be modified unless own is set
	room    []int
	own     bool
}

// take reports whether t is enabled. If so, it removes the tokens that t consumes.
func (s *scratch) take(t int) bool {
	if !s.net.net.Transitions[t].Enabled(s.marking) {
		return false
	}
	def := &s.net.Transitions[t]
	if def.Observe && def.Deferred {
		return true
	}
	if !s.own {
		s.marking = append(s.room, s.marking...)
		s.own = true
	}
	arcs := s.net.lasting[t]
	if def.Deferred {
		arcs = s.net.net.Transitions[t].In
	}
	for _, a := range arcs {
		s.marking[a.Place] -= a.Weight
	}
	return true
}

// judgeWatches handles the observers that read their key from the call's result. Until the result
// is known, these observers wait in the net's default state (see [NetData]), so judgeWatches
// removes them from f.choices. If an observer was not chosen for f's key value, it must not fire
// for this value when the call succeeds. judgeWatches records such observers.
func (f *finding) judgeWatches() {
	for i, w := range f.plan.watches {
		if !f.chosen(w.transition) {
			f.makeSpecial().missed |= 1 << i
		}
	}
	f.choices = slices.DeleteFunc(f.choices, func(c choice) bool { return slices.Contains(f.net.results, c.transition) })
	if f.kind == Gated && len(f.choices) == 0 {
		f.kind = Abstain
	}
}

// judgeBase computes the part of the verdict that does not depend on the call's key values.
func (f *finding) judgeBase() {
	switch {
	case f.plan.missing != nil:
		f.kind, f.label = Blocked, int32(f.plan.missing.label)
	case len(f.plan.watches) > 0 && len(f.spoils())+len(f.data.Spoilers()) == 0:
		f.kind, f.choices = Gated, append(f.choices, f.plan.watches...)
	default:
		f.choose(nil) // finds only names that the net always allows (see [Net.Free]), because no transition applies without a key value
	}
}

// checkSum blocks a call that would exceed the limit on the net's sum, or whose amount cannot be
// read.
func (f *finding) checkSum(c *Call) {
	if f.kind != Gated || !f.hasGating() {
		return
	}
	amount, reason, retry := f.net.limit().Add(f.displayName(c), c, spentOf(f.data))
	if amount == nil {
		f.blockFor(f.withReason(reason), retry)
		return
	}
	f.makeSpecial().amount = amount
}
