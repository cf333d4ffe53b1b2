package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// settleKeyed adds to d the changes that the end of a call makes to a net with a key. It changes
// the states that wait for the call, and the states for the key values in the call's result.
func (q PreparedEnd) settleKeyed(d *Delta, s *State, n *net, e ending) {
	base := n.advanced(s.Nets[n.index], s.Nets[n.index], e.time)
	after := netstate.Unwatched(base, &e.flight, e.over)
	if after != s.Nets[n.index] {
		d.set(n.index, "", after)
	}
	e.base = base
	values, idle := q.endedValues(n, &e, after)
	d.Nets = append(d.Nets, idle...)
	for _, v := range values {
		old := base.Values.Get(v.Text)
		if old == nil {
			single := netstate.ForNewValue(base)
			old = &single
		} else {
			old = n.advanced(old, base, e.time)
		}
		e.keys = v.Keys
		if n.OnSuccess != nil {
			e.named = n.written.ParseText(v.Text)
		}
		room := &NetData{}
		if e.applyBoth(n, old, room) {
			netstate.Prune(room, after)
			d.Nets = append(d.Nets, NetDelta{Net: n.index, Key: v.Text, Data: room})
		}
	}
}

// endedValues returns the key values whose states can change when the call ends: first those that
// wait for the call, then those in its result.
//
// If the net would then store more key values than the policy allows, endedValues also returns
// changes that remove idle values, whose states equal the new default state. If this does not make
// enough room, endedValues omits the values in the result, so that the call does not count for
// them.
func (q PreparedEnd) endedValues(n *net, e *ending, after *NetData) (values []keyvalue.Value, idle []NetDelta) {
	for k, i := range e.call.Nets {
		if i == n.index && len(e.call.Keys) > 0 && e.call.Keys[k] != "" {
			values = append(values, keyvalue.Value{Text: e.call.Keys[k]})
		}
	}
	waiting := len(values)
	if e.outcome != Success || len(n.results) == 0 {
		return values, nil
	}
	for _, local := range e.watchedKeys(n) {
		values = q.addResultValues(n, local, e, values)
	}
	grown := e.base.Values.Len()
	for i := range values[waiting:] {
		if e.base.Values.Get(values[waiting+i].Text) == nil {
			grown++
		}
	}
	if grown <= q.policy.maxValues {
		return values, nil
	}
	idle = n.idle(e.base, after, e.time, func(key string) bool {
		return slices.ContainsFunc(values, func(v keyvalue.Value) bool { return v.Text == key })
	})
	if grown-len(idle) > q.policy.maxValues {
		values = values[:waiting:waiting]
		for i := range values {
			values[i].Keys = 0
		}
	}
	return values, idle
}

// watchedKeys returns the keys of the observers that wait for the call, as indexes in n.keys. In
// shadow mode, it includes observers that wait only in the enforced state; see [ShadowData].
func (e *ending) watchedKeys(n *net) []int {
	watches := e.base.Watches
	if e.base.Shadow != nil {
		watches = slices.Concat(watches, e.base.Shadow.Enforced.Watches)
	}
	var keys []int
	for _, w := range watches {
		if local := n.keyOf[w.Transition]; w.SameCall(&e.flight) && !slices.Contains(keys, local) {
			keys = append(keys, local)
		}
	}
	return keys
}

// addResultValues adds the key values in the call's result to values. The key is given by its index
// in n.keys. If a value is already in the list, addResultValues only marks it as a value of this
// key.
func (q PreparedEnd) addResultValues(n *net, local int, e *ending, values []keyvalue.Value) []keyvalue.Value {
	at := make(map[string]int, len(values))
	for i := range values {
		at[values[i].Text] = i
	}
	q.carrier.Call = &e.call.Call
	for _, v := range q.carrier.Key(n.keys[local]).Values {
		i, ok := at[v.Text]
		if !ok {
			i = len(values)
			values = append(values, keyvalue.Value{Text: v.Text})
		}
		values[i].Keys |= 1 << local
	}
	return values
}
