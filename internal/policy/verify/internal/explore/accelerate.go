package explore

import "slices"

// accelerate makes the call that led here from before again, up to most times, in
// one step. It does so where each net moves by the same tokens each time, and
// has so many of them before and after that every transition stays as it is,
// enabled or not. It returns how many calls that were.
func (r *run) accelerate(before []int, most int) int {
	if most == 0 {
		return 0
	}
	for i, n := range r.nets {
		if n != nil && r.local[i] != before[i] {
			most = min(most, n.repeatable(&n.locals.List[before[i]], &n.locals.List[r.local[i]]))
		}
	}
	if most <= 0 {
		return 0
	}
	for i, n := range r.nets {
		if n == nil || r.local[i] == before[i] {
			continue
		}
		a, next := &n.locals.List[before[i]], n.locals.List[r.local[i]].clone()
		for p := range next.marking {
			next.marking[p] += most * (next.marking[p] - a.marking[p])
		}
		r.local[i] = n.intern(next)
	}
	return most
}

// repeatable is how often the step from a to b can be made again before it could
// become another one.
func (n *Net) repeatable(a, b *local) int {
	if a.stuck || b.stuck || a.spoiled != b.spoiled || !slices.Equal(a.flights, b.flights) {
		return 0
	}
	for _, t := range n.free { // they move by themselves
		if n.Trans[t].Enabled(a.marking) || n.Trans[t].Enabled(b.marking) {
			return 0
		}
	}
	times := int(^uint(0) >> 1)
	for p := range b.marking {
		by := b.marking[p] - a.marking[p]
		if by == 0 {
			continue
		}
		least := n.enough(p)
		if min(a.marking[p], b.marking[p]) < least {
			return 0
		}
		if by < 0 {
			times = min(times, (b.marking[p]-least)/-by)
		}
	}
	return times
}

// enough is how many tokens of a place are enough for whatever one call does,
// and leaves every transition enabled that the place alone could disable: what
// all transitions take, three times over: when the call begins, when it ends,
// and when the net comes to rest after either.
func (n *Net) enough(place int) int {
	sum := 0
	for i := range n.Trans {
		sum += weight(n.Trans[i].In, place)
	}
	return 3 * sum
}
