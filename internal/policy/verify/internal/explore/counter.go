package explore

import (
	"maps"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A place that starts with many tokens is a large counter. It would be expensive to explore all its
// levels, or numbers of tokens. If calls add and remove one token at a time, the policy behaves in
// the same way at all levels except those near the maximum and near zero. A smaller initial marking
// then suffices. The searches do not assume such a cut-off (Emerson and Namjoshi, "Reasoning about
// rings", POPL 1995), but detect it in the explored states; see [Space.saturated].

// A place that initially has more than minLargeCounter tokens is a large counter.
const minLargeCounter = 8

// counter returns the index of the net's large counter, or -1 if the net has no counter that can be
// reduced. If a net has several large counters, none of them can be reduced.
func (n *structure) counter() int {
	found := -1
	for i, p := range n.Info.Places {
		if n.Info.Initial[p] > minLargeCounter {
			if found >= 0 || !n.steady(i) {
				return -1
			}
			found = i
		}
	}
	return found
}

// steady reports whether only calls and the clock change the number of tokens in the given place,
// by one token at a time. The place must not be an input or output of a deferred gating transition,
// which takes tokens when a call begins and adds tokens when the call ends.
func (n *structure) steady(place int) bool {
	for i := range n.Trans {
		in, out := weight(n.Trans[i].In, place), weight(n.Trans[i].Out, place)
		def := &n.Info.Transitions[i]
		if in == 0 && out == 0 {
			continue
		}
		if in > 1 || out > 1 || len(def.Tools) == 0 && def.Every == 0 || def.Deferred && !def.Observe {
			return false
		}
	}
	return true
}

// cap returns a copy of n whose large counter starts with the given number of tokens, or n itself
// if n has no large counter with more tokens. Copies are cached.
func (n *Net) cap(to int) *Net {
	p := n.counter()
	if p < 0 || n.Info.Initial[n.Info.Places[p]] <= to {
		return n
	}
	if n.capped[to] == nil {
		c := *n
		c.locals, c.ends, c.key = callclass.Numbers[localState]{}, make(map[endKey]*callEnd), nil
		listing := *n.Net
		c.Net = &listing
		c.Info.Initial = maps.Clone(n.Info.Initial)
		c.Info.Initial[n.Info.Places[p]] = to
		c.counterAt = p
		c.start()
		if n.capped == nil {
			n.capped = make(map[int]*Net)
		}
		n.capped[to] = &c
	}
	return n.capped[to]
}
