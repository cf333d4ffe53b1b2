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

// plan says what a call is for a net with a key, whatever the state.
type plan struct {
	keyvalue.Union
	net     *net
	labels  []naming.Label
	ok      bool     // the mapper of the net did not fail
	watches []choice // observers whose key is in the result
	spoils  []choice // transitions that spoil evidence and find no value: they spoil that for all
	lack    *lack    // a transition that gates the call needs a value and finds none
}

// lack says why a call has no value for a transition that gates it.
type lack struct {
	label   int
	reading *keyvalue.Reading
	key     *keyvalue.Key
}

// keyedCall is what a call is for the nets with a key.
type keyedCall struct {
	plans   []plan // of those that it can concern, in order
	next    int    // the plan that was asked for last
	carrier keyvalue.Carrier
	carried []carried // of the subjects

	// Space for the usual case.
	planRoom    [4]plan
	carriedRoom [4]carried
}

// clear forgets the call, and keeps the space for the next one.
func (k *keyedCall) clear() {
	clear(k.plans)
	clear(k.carried)
	k.plans, k.carried, k.next = k.plans[:0], k.carried[:0], 0
	k.carrier = keyvalue.Carrier{}
}

// carried is what a call carries for a subject that is a net with a key.
type carried struct {
	base  *NetData // the net at large
	plan  *plan
	value *keyvalue.Value // nil: it is about what is about no value
}

// subject returns a net with a key and what the call carries for it.
func (k *keyedCall) subject(n *net, data *NetData, of carried) subject {
	k.carried = append(k.carried, of)
	return subject{net: n, data: data, of: &k.carried[len(k.carried)-1]}
}

// base returns the net at large; of a net without a key, nil.
func (s *subject) base() *NetData {
	if s.of == nil {
		return nil
	}
	return s.of.base
}

// plan returns what the call is for a net with a key; nil if the net has none, or the
// arguments are not known.
func (s *subject) plan() *plan {
	if s.of == nil {
		return nil
	}
	return s.of.plan
}

// value returns the value of the call that the subject is about, or nil.
func (s *subject) value() *keyvalue.Value {
	if s.of == nil {
		return nil
	}
	return s.of.value
}

// plan finds the values for the nets with a key that the call can concern.
func (j *judgement) plan() {
	if j.policy.keys.Len() == 0 || j.bare {
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
		k.plans, k.carried = make([]plan, 0, count), make([]carried, 0, count)
	}
	for word, nets := range j.policy.keyed {
		for nets &= j.set[word]; nets != 0; nets &= nets - 1 {
			n := j.policy.nets[word*64+bits.TrailingZeros64(nets)]
			k.plans = append(k.plans, plan{net: n})
			j.fill(&k.plans[len(k.plans)-1])
		}
	}
}

// fill makes the plan for its net.
func (j *judgement) fill(p *plan) {
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
				p.list(&j.keyed.carrier, i, t)
			}
		}
	}
}

// list adds the values of one transition that lists a name of the call.
func (p *plan) list(c *keyvalue.Carrier, label, t int) {
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
	case p.lack == nil && !n.Transitions[t].Observe:
		p.lack = &lack{label: label, reading: r, key: c.Set.At(number)}
	}
}

// planFor returns the plan for the net, or nil. The nets of one [judgement.classify] are
// asked for in order.
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

// considerKeyed asks the net for each value of the call.
func (j *judgement) considerKeyed(n *net, base *NetData) {
	base = j.now(n, "", base, base)
	p := j.planFor(n)
	if p == nil {
		j.considerAny(n, base)
		return
	}
	if len(p.Values) == 0 || len(p.watches)+len(p.spoils) > 0 || p.lack != nil {
		j.consider(j.keyed.subject(n, base, carried{base: base, plan: p}))
	}
	for i := range p.Values {
		v := &p.Values[i]
		data := base
		if stored := netstate.GetHashed(base.Values, v.Hash, v.Text); stored != nil {
			data = j.now(n, v.Text, stored, base)
		}
		j.consider(j.keyed.subject(n, data, carried{base, p, v}))
	}
}

// considerAny asks the net about a call whose arguments are not known: it blocks only
// what it blocks for every value.
func (j *judgement) considerAny(n *net, base *NetData) {
	best := base
	if base.Active {
		for d := range netstate.Distinct(base) {
			d = n.at(d, base, j.call.Time)
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

// listed returns those of the transitions whose key has the value of the finding.
func (f *finding) listed(lists []int) []int {
	if f.plan() == nil || f.value() != nil && f.plan().KeysOf(f.value()) == f.net.allKeys() {
		return lists
	}
	return listing.Delete(lists, func(t int) bool { return !f.has(t) })
}

// has reports whether the transition is about the value of the finding. One whose value
// is in the result may be about any.
func (f *finding) has(t int) bool {
	if f.value() == nil {
		return false
	}
	return f.plan().KeysOf(f.value())&(1<<f.net.keyOf[t]) != 0 || slices.Contains(f.net.results, t)
}

// judgeWatches is for the observers whose key is in the result: those are watched by the
// net at large, but for the values for which they are not chosen.
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

// judgeBase judges the part of the call that is about no value.
func (f *finding) judgeBase() {
	switch {
	case f.plan().lack != nil:
		f.kind, f.label = Blocked, int32(f.plan().lack.label)
	case len(f.plan().watches) > 0 && len(f.spoils())+len(f.data.Spoilers()) == 0:
		f.kind, f.choices = Gated, append(f.choices, f.plan().watches...)
	default:
		f.judge(nil) // perhaps one of the names is free
	}
}

// named returns the value of the finding, under the names of the fields of a transition.
func (f *finding) named() []KeyValue {
	if f.value() == nil {
		return nil
	}
	return f.value().Named
}

// allKeys returns all keys of the net.
func (n *net) allKeys() uint64 { return 1<<len(n.keys) - 1 }

// about puts the value of the finding into a sentence.
func (f *finding) about(sentence string) string {
	if f.value() == nil || !strings.Contains(sentence, "{key}") {
		return sentence
	}
	return strings.ReplaceAll(sentence, "{key}", f.value().Show())
}

// reason returns the reason of the net, about the value of the finding.
func (f *finding) reason(name string) string {
	if f.value() == nil || len(f.net.reasoned) == 1 {
		return f.net.reason(name)
	}
	return strings.Join(f.net.reasoned, f.value().Show())
}

// keyText returns the value of the subject as [NetDelta.Key].
func (s *subject) keyText() string {
	if s.value() == nil {
		return ""
	}
	return s.value().Text
}

// own returns the state of the subject, to be changed; for a value of which nothing is
// kept so far, made from the net at large.
func (s *subject) own() NetData {
	if s.value() == nil || s.data != s.base() {
		return *s.data
	}
	return netstate.Single(s.base())
}

// move returns the move of the net for the finding, made in room. The net at large may
// have moved before.
func (f *finding) move(room, base *NetData, call Flight) move {
	m := newMove(f.net, f.data, room)
	if f.of == nil {
		return m
	}
	*room = f.own()
	if f.plan() != nil {
		m.watchOver(older(base.Watches, &call), f.value() == nil)
		m.over = base.Watches
	}
	m.miss(f, call)
	return m
}

// older returns the watches without those of the call, which are the last: these begin
// after what gates the call has fired.
func older(watches []Flight, call *Flight) []Flight {
	for len(watches) > 0 && watches[len(watches)-1].Is(call) {
		watches = watches[:len(watches)-1]
	}
	return watches
}

// miss records the watches of the call that do not count for the value.
func (m *move) miss(f *finding, call Flight) {
	for missed := f.missed(); missed != 0; missed &= missed - 1 {
		w := f.plan().watches[bits.TrailingZeros64(missed)]
		call.Transition, call.Name = w.transition, w.name
		if slices.Contains(m.over, call) {
			m.lapsed(call)
		}
	}
}

// watchOver makes m a move for one value, or of a net with a key at large, which has
// these watches. One has lapsed for a value if its transition was not enabled, or its
// evidence was spoiled, at some time since the call was admitted.
func (m *move) watchOver(over []Flight, large bool) {
	m.over, m.large = over, large
	if len(m.data.Lapsed()) > 0 {
		netstate.SetLapsed(m.data, netstate.Keep(m.data.Lapsed(), func(w Flight) bool { return slices.Contains(over, w) }))
	}
	m.lapse()
}

// lapse records the watches that do not count any more.
func (m *move) lapse() {
	for _, w := range m.over {
		if len(m.data.Spoilers()) > 0 || !m.net.net.Transitions[w.Transition].Enabled(m.data.Marking) {
			m.lapsed(w)
		}
	}
}

// lapsed records that the watch does not count for the value any more.
func (m *move) lapsed(w Flight) {
	if !slices.Contains(m.data.Lapsed(), w) {
		netstate.SetLapsed(m.data, append(slices.Clip(m.data.Lapsed()), w))
	}
}

// wait records the value of the net that was added last.
func (c *OpenCall) wait(key string) {
	for len(c.Keys) < len(c.Nets)-1 {
		c.Keys = append(c.Keys, "")
	}
	c.Keys = append(c.Keys, key)
}

// tickKeyed adds to d how the clock moves the net, for all values that are kept.
func (n *net) tickKeyed(d *Delta, base *NetData, t time.Time) {
	moved := n.at(base, base, t)
	if moved != base {
		d.set(n.index, "", moved)
	}
	for key, old := range base.Values.All() {
		if data := n.at(old, moved, t); data != old {
			d.Nets = append(d.Nets, NetDelta{Net: n.index, Key: key, Data: data})
		}
	}
}

// lacks reports whether the finding is that the call has no value.
func (f *finding) lacks() bool { return f.value() == nil && f.plan() != nil && f.plan().lack != nil }

// shownValues bounds the values of one net that are shown to a reader.
const shownValues = 10
