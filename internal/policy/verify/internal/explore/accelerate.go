package explore

import "slices"

// maxRepeats returns a lower bound on the number of times that the step from state a to state b can
// be repeated with the same effect.
func (n *structure) maxRepeats(a, b *localState) int {
	if a.stuck || b.stuck || a.spoiled != b.spoiled || !slices.Equal(a.flights, b.flights) {
		return 0
	}
	for _, t := range n.free { // if structural transitions were enabled, they would fire between the repetitions
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
		least := n.sufficientTokens(p)
		if min(a.marking[p], b.marking[p]) < least {
			return 0
		}
		if by < 0 {
			times = min(times, (b.marking[p]-least)/-by)
		}
	}
	return times
}

// sufficientTokens returns a number of tokens that is enough for every transition and that a single
// call cannot use up. It is three times the number that all transitions together take from the
// place. This is enough because a call can fire transitions when it begins and when it ends, and
// structural transitions can fire after either.
func (n *structure) sufficientTokens(place int) int {
	sum := 0
	for i := range n.Trans {
		sum += weight(n.Trans[i].In, place)
	}
	return 3 * sum
}
