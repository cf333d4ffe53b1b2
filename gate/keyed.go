package gate

import (
	"math/bits"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/listing"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/jsonpath"
)

// netKeys holds the keys of a policy's nets.
type netKeys struct {
	keys    keyvalue.Set
	keyed   listing.Set // nets with a key; nil if no net has a key
	results bool        // whether any net reads call results
}

// newNetKeys collects the keys of the nets, and stores their indexes in the nets.
func newNetKeys(nets []*net) (k netKeys) {
	for _, n := range nets {
		for i := range n.Transitions {
			n.keyOf = append(n.keyOf, -1)
			if key := n.KeyOf(&n.Transitions[i]); len(key) > 0 {
				number := k.keys.Number(key)
				n.setKey(i, number, k.keys.At(number))
			}
		}
		if len(n.keys) > 0 {
			if k.keyed == nil {
				k.keyed = listing.NewSet(len(nets))
			}
			k.keyed.Add(n.index)
			n.written = *k.keys.At(n.keys[0])
			if len(n.Key) > 0 {
				n.written.Written = n.Key
			}
		}
		k.results = k.results || len(n.results) > 0 || n.OnSuccess != nil
	}
	return k
}

// setKey sets the key of a transition to k. number is the index of k among the keys of the policy.
func (n *net) setKey(transition, number int, k *keyvalue.Key) {
	local := slices.Index(n.keys, number)
	if local < 0 {
		local = len(n.keys)
		n.keys = append(n.keys, number)
	}
	n.keyOf[transition] = local
	if k.Result {
		n.results = append(n.results, transition)
		n.mixed = n.mixed || k.Mixed
	}
}

// plan describes what a call means for a net with a key, independently of the state. It contains
// the key values in the call, and the transitions that cannot get their key value from the call's
// arguments.
type plan struct {
	keyvalue.Union
	net     *net
	labels  []naming.Label
	ok      bool          // whether the names in labels are known; false if the net's Mapper failed
	watches []choice      // chosen observers (transitions with Observe) whose key is read from the result
	spoils  []choice      // transitions with Spoils that affect all key values, because the call has no value for their key or the Mapper has failed
	missing *missingValue // first value that a gating transition needs but the call lacks, or nil
}

// missingValue describes a key value that a gating transition needs but the call lacks.
type missingValue struct {
	label   int
	reading *keyvalue.Reading
	key     *keyvalue.Key
}

// choice is a transition chosen for one of the call's names.
type choice struct {
	transition int
	name       string
}

// keyedCall holds the plans of a call for the nets with a key.
type keyedCall struct {
	plans   []plan // plans for the nets that have a key and might apply to the call, in policy order
	next    int    // index of the plan that [judgement.classify] has reached
	carrier keyvalue.CallReader

	planRoom [4]plan // preallocated space for the usual case
}

// clear resets k but keeps its memory for the next call.
func (k *keyedCall) clear() {
	clear(k.plans)
	k.plans, k.next = k.plans[:0], 0
	k.carrier = keyvalue.CallReader{}
}

// plan computes the plans for the nets that have a key and might apply to the call.
func (j *judgement) plan() {
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
		k.plans = k.planRoom[:0]
	}
	j.keyed, j.spare = k, nil
	k.carrier.Set, k.carrier.Call = &j.policy.keys, j.call
	if count > cap(k.plans) {
		k.plans = make([]plan, 0, count)
	}
	for word, nets := range j.policy.keyed {
		for nets &= j.set[word]; nets != 0; nets &= nets - 1 {
			n := j.policy.nets[word*64+bits.TrailingZeros64(nets)]
			k.plans = append(k.plans, plan{net: n})
			j.fillPlan(&k.plans[len(k.plans)-1])
		}
	}
}

// fillPlan computes the plan p, which initially contains only the net.
func (j *judgement) fillPlan(p *plan) {
	n := p.net
	p.labels, p.ok = j.labels, true
	if n.Labels == nil {
		p.labels, p.ok = j.ownNames(n)
	}
	if !p.ok {
		p.spoils = n.allSpoils(j.call.Tool)
		return
	}
	spared := n.listing.Spared(p.labels)
	for i := range p.labels {
		lists, free := n.listing.Lookup(&p.labels[i], spared)
		for _, t := range lists {
			if !free || n.Transitions[t].Spoils {
				p.addTransition(&j.keyed.carrier, i, t)
			}
		}
	}
}

// addTransition adds the transition t to the plan. t lists the name p.labels[label]. If t reads its
// key from the result, addTransition adds t to p.watches, unless the name is weak: the call's
// success does not count for a weak name; see [Name]. If t reads its key from the arguments,
// addTransition adds the call's values for the key. If the call has no such value, addTransition
// adds t to p.spoils or records the missing value in p.missing.
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

// ownNames returns the net's own names for the call. n must not have Labels.
func (c *namedCall) ownNames(n *net) ([]naming.Label, bool) {
	if c.withoutMaps && n.Mapper == nil {
		return naming.WithPatterns(slices.Clip(c.tools), n.own.Patterns), true
	}
	return n.own.Labels(c.call, c.tools)
}

// ownLabels is like [namedCall.ownNames], but uses the result cached in the plan.
func (c *namedCall) ownLabels(s subject) ([]naming.Label, bool) {
	if s.plan != nil {
		return s.plan.labels, s.plan.ok
	}
	return c.ownNames(s.net)
}

// allSpoils returns a choice with the given name for each transition of n with [Transition.Spoils].
func (n *net) allSpoils(name string) (spoils []choice) {
	for t := range n.Transitions {
		if n.Transitions[t].Spoils {
			spoils = append(spoils, choice{transition: t, name: name})
		}
	}
	return spoils
}
