package gate

import (
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/listing"
	"github.com/petrigate/petrigate/gate/internal/naming"
	"github.com/petrigate/petrigate/gate/internal/netstate"
	"github.com/petrigate/petrigate/internal/jsonpath"
)

// plan describes, independently of the state, how a call concerns a net with a key: the values of
// the call and the transitions that do not depend on them.
type plan struct {
	keyvalue.Union
	net     *net
	labels  []naming.Label
	ok      bool          // the mapper of the net did not fail
	watches []choice      // observers whose key is in the result
	spoils  []choice      // spoiling transitions whose value the call lacks: they spoil the evidence for all values
	missing *missingValue // a transition that gates the call needs a value that the call lacks; nil: no such transition
}

// missingValue describes a value that the call lacks for a transition that gates it.
type missingValue struct {
	label   int
	reading *keyvalue.Reading
	key     *keyvalue.Key
}

// keyedCall contains the plans of a call for the nets with a key.
type keyedCall struct {
	plans   []plan // for the nets that might apply, in order
	next    int    // index of the last requested plan
	carrier keyvalue.CallReader
	carried []keyContext // one for each subject

	// Preallocated space for the usual case.
	planRoom    [4]plan
	carriedRoom [4]keyContext
}

// clear resets k, and keeps its memory for the next call.
func (k *keyedCall) clear() {
	clear(k.plans)
	clear(k.carried)
	k.plans, k.carried, k.next = k.plans[:0], k.carried[:0], 0
	k.carrier = keyvalue.CallReader{}
}

// keyContext is the part of a subject that only nets with a key have.
type keyContext struct {
	base  *NetData // default state
	plan  *plan
	value *keyvalue.Value // nil: the part of the call that concerns no value
}

// subject returns a subject for a net with a key.
func (k *keyedCall) subject(n *net, data *NetData, of keyContext) subject {
	k.carried = append(k.carried, of)
	return subject{net: n, data: data, keyed: &k.carried[len(k.carried)-1]}
}

// base returns the default state of the net, or nil if the net has no key.
func (s *subject) base() *NetData {
	if s.keyed == nil {
		return nil
	}
	return s.keyed.base
}

// plan returns the plan of the call for a net with a key; nil if the net has no key or the
// arguments are unknown.
func (s *subject) plan() *plan {
	if s.keyed == nil {
		return nil
	}
	return s.keyed.plan
}

// value returns the value of the call that the subject is for, or nil.
func (s *subject) value() *keyvalue.Value {
	if s.keyed == nil {
		return nil
	}
	return s.keyed.value
}

// plan computes the plans for the nets with a key that might apply to the call.
func (j *judgement) plan() {
	if j.policy.keys.Len() == 0 || j.withoutMaps {
		return
	}
	count := 0
	for word, nets := range j.policy.keyed {
		count += bits.OnesCount64(nets & j.set[word])
	}
	if count == 0 {
		return
	}
	k := j.spare
	if k == nil {
		k = &keyedCall{}
		k.plans, k.carried = k.planRoom[:0], k.carriedRoom[:0]
	}
	j.keyed, j.spare = k, nil
	k.carrier.Set, k.carrier.Call = &j.policy.keys, j.call
	if count > cap(k.plans) {
		k.plans, k.carried = make([]plan, 0, count), make([]keyContext, 0, count)
	}
	for word, nets := range j.policy.keyed {
		for nets &= j.set[word]; nets != 0; nets &= nets - 1 {
			n := j.policy.nets[word*64+bits.TrailingZeros64(nets)]
			k.plans = append(k.plans, plan{net: n})
			j.fillPlan(&k.plans[len(k.plans)-1])
		}
	}
}

// fillPlan computes the plan for its net.
func (j *judgement) fillPlan(p *plan) {
	n := p.net
	p.labels, p.ok = j.labels, true
	if n.Labels == nil {
		p.labels, p.ok = j.own(n)
	}
	if !p.ok {
		p.spoils = n.allSpoils(j.call.Tool)
		return
	}
	spared := n.listing.Spared(p.labels)
	for i := range p.labels {
		lists, free := n.listing.Lookup(&p.labels[i])
		for _, t := range listing.Without(lists, spared) {
			if !free || n.Transitions[t].Spoils {
				p.addTransition(&j.keyed.carrier, i, t)
			}
		}
	}
}

// addTransition adds to the plan the values for one transition that lists a name of the call.
func (p *plan) addTransition(c *keyvalue.CallReader, label, t int) {
	n := p.net
	number := n.keys[n.keyOf[t]]
	if c.Set.At(number).Result {
		its := func(w choice) bool { return w.transition == t }
		if !p.labels[label].Weak && !slices.ContainsFunc(p.watches, its) {
			p.watches = append(p.watches, choice{transition: t, name: p.labels[label].Text})
		}
		return
	}
	switch r := c.Key(number); {
	case r.Fault == jsonpath.None:
		p.Add(r.Values, 1<<n.keyOf[t])
	case n.Transitions[t].Spoils:
		p.spoils = append(p.spoils, choice{transition: t, name: p.labels[label].Text})
	case p.missing == nil && !n.Transitions[t].Observe:
		p.missing = &missingValue{label: label, reading: r, key: c.Set.At(number)}
	}
}

// planFor returns the plan for the net, or nil. [judgement.classify] must request the nets in
// order.
func (j *judgement) planFor(n *net) *plan {
	if j.keyed == nil {
		return nil
	}
	k := j.keyed
	for k.plans[k.next].net != n {
		k.next++
	}
	return &k.plans[k.next]
}

// considerKeyed evaluates the net for each value of the call.
func (j *judgement) considerKeyed(n *net, base *NetData) {
	base = j.now(n, "", base, base)
	p := j.planFor(n)
	if p == nil {
		j.considerAny(n, base)
		return
	}
	if len(p.Values) == 0 || len(p.watches)+len(p.spoils) > 0 || p.missing != nil {
		j.consider(j.keyed.subject(n, base, keyContext{base: base, plan: p}))
	}
	for i := range p.Values {
		v := &p.Values[i]
		data := base
		if stored := netstate.GetHashed(base.Values, v.Hash, v.Text); stored != nil {
			data = j.now(n, v.Text, stored, base)
		}
		j.consider(j.keyed.subject(n, data, keyContext{base, p, v}))
	}
}

// considerAny evaluates the net for a call with unknown arguments: it blocks only if it blocks for
// every value.
func (j *judgement) considerAny(n *net, base *NetData) {
	best := base
	if base.Active {
		for d := range netstate.Distinct(base) {
			d = n.advanced(d, base, j.call.Time)
			f := finding{subject: subject{net: n, data: d.Deciding()}, labels: j.labels, label: -1}
			if n.Labels == nil {
				f.labels, _ = j.own(n)
			}
			f.judge(nil)
			if f.kind != Blocked {
				best = d
				break
			}
		}
	}
	j.consider(subject{net: n, data: best})
}

// withValue returns the transitions whose key has the value of the finding.
func (f *finding) withValue(lists []int) []int {
	if f.plan() == nil || f.value() != nil && f.plan().KeysOf(f.value()) == f.net.allKeys() {
		return lists
	}
	return listing.Delete(lists, func(t int) bool { return !f.appliesTo(t) })
}

// appliesTo reports whether the transition applies to the value of the finding. A transition whose value
// is in the result might apply to any value.
func (f *finding) appliesTo(t int) bool {
	if f.value() == nil {
		return false
	}
	return f.plan().KeysOf(f.value())&(1<<f.net.keyOf[t]) != 0 || slices.Contains(f.net.results, t)
}

// judgeWatches removes the observers whose key is in the result from the choices, because they are
// watched in the default state, and records those that were not chosen: their watches do not count
// for this value.
func (f *finding) judgeWatches() {
	for i, w := range f.plan().watches {
		if !f.chosen(w.transition) {
			f.makeSpecial().missed |= 1 << i
		}
	}
	f.choices = slices.DeleteFunc(f.choices, func(c choice) bool { return slices.Contains(f.net.results, c.transition) })
	if f.kind == Gated && len(f.choices) == 0 {
		f.kind = Abstain
	}
}

// judgeBase evaluates the part of the call that concerns no value.
func (f *finding) judgeBase() {
	switch {
	case f.plan().missing != nil:
		f.kind, f.label = Blocked, int32(f.plan().missing.label)
	case len(f.plan().watches) > 0 && len(f.spoils())+len(f.data.Spoilers()) == 0:
		f.kind, f.choices = Gated, append(f.choices, f.plan().watches...)
	default:
		f.judge(nil) // one of the names might be free
	}
}

// keyValues returns the value of the finding by field.
func (f *finding) keyValues() []KeyValue {
	if f.value() == nil {
		return nil
	}
	return f.value().Named
}

// allKeys returns the set of all keys of the net.
func (n *net) allKeys() uint64 { return 1<<len(n.keys) - 1 }

// fillKey inserts the value of the finding into a sentence.
func (f *finding) fillKey(sentence string) string {
	if f.value() == nil || !strings.Contains(sentence, "{key}") {
		return sentence
	}
	return strings.ReplaceAll(sentence, "{key}", f.value().Format())
}

// reason returns the reason of the net for the value of the finding.
func (f *finding) reason(name string) string {
	if f.value() == nil || len(f.net.reasoned) == 1 {
		return f.net.reason(name)
	}
	return strings.Join(f.net.reasoned, f.value().Format())
}

// keyText returns the value of the subject in the form of [NetDelta.Key].
func (s *subject) keyText() string {
	if s.value() == nil {
		return ""
	}
	return s.value().Text
}

// copyState returns a copy of the state of the subject for changes. If the value has no state yet, the
// copy derives from the default state.
func (s *subject) copyState() NetData {
	if s.value() == nil || s.data != s.base() {
		return *s.data
	}
	return netstate.ForNewValue(s.base())
}

// move starts the move of the net for the finding, with its copy in room. The default state base
// may have been moved before.
func (f *finding) move(room, base *NetData, call Flight) move {
	m := newMove(f.net, f.data, room)
	if f.keyed == nil {
		return m
	}
	*room = f.copyState()
	if f.plan() != nil {
		m.setBaseWatches(watchesBefore(base.Watches, &call), f.value() == nil)
		m.baseWatches = base.Watches
	}
	m.recordMissed(f, call)
	return m
}

// watchesBefore returns the watches without those of the call, which come last: the new watches start after
// the gating transitions have fired.
func watchesBefore(watches []Flight, call *Flight) []Flight {
	for len(watches) > 0 && watches[len(watches)-1].SameCall(call) {
		watches = watches[:len(watches)-1]
	}
	return watches
}

// recordMissed records the watches of the call that do not count for the value.
func (m *move) recordMissed(f *finding, call Flight) {
	for missed := f.missed(); missed != 0; missed &= missed - 1 {
		w := f.plan().watches[bits.TrailingZeros64(missed)]
		call.Transition, call.Name = w.transition, w.name
		if slices.Contains(m.baseWatches, call) {
			m.addLapsed(call)
		}
	}
}

// setBaseWatches makes m a move of the state for one value, or, if large is set, of the default state;
// over are the watches of the default state. Such a watch has lapsed for a value if, at any time
// since the call was admitted, its transition was disabled or its evidence was spoiled.
func (m *move) setBaseWatches(over []Flight, large bool) {
	m.baseWatches, m.isBase = over, large
	if len(m.data.Lapsed()) > 0 {
		netstate.SetLapsed(m.data, netstate.Filter(m.data.Lapsed(), func(w Flight) bool { return slices.Contains(over, w) }))
	}
	m.lapseDisabled()
}

// lapseDisabled records the watches that no longer count.
func (m *move) lapseDisabled() {
	for _, w := range m.baseWatches {
		if len(m.data.Spoilers()) > 0 || !m.net.net.Transitions[w.Transition].Enabled(m.data.Marking) {
			m.addLapsed(w)
		}
	}
}

// addLapsed records that the watch no longer counts for the value.
func (m *move) addLapsed(w Flight) {
	if !slices.Contains(m.data.Lapsed(), w) {
		netstate.SetLapsed(m.data, append(slices.Clip(m.data.Lapsed()), w))
	}
}

// wait records the value for the net that was added last.
func (c *OpenCall) wait(key string) {
	for len(c.Keys) < len(c.Nets)-1 {
		c.Keys = append(c.Keys, "")
	}
	c.Keys = append(c.Keys, key)
}

// tickKeyed adds to d the changes of the net by the clock, in the default state and for all stored
// values.
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

// lacks reports whether the net blocks because the call has no value.
func (f *finding) lacks() bool { return f.value() == nil && f.plan() != nil && f.plan().missing != nil }

// shownValues limits the number of values of one net that are shown to readers.
const shownValues = 10
