package petri

import (
	"math"
	"slices"
)

// MaxFirings returns how many times in succession t can fire in m without raising a token count
// above the given limit. It returns [math.MaxInt] if that number is unlimited.
func (t *Transition) MaxFirings(m Marking, limit int) int {
	times := math.MaxInt
	for _, a := range t.In {
		if m[a.Place] < a.Weight {
			return 0
		}
		if lost := a.Weight - weight(t.Out, a.Place); lost > 0 {
			times = min(times, (m[a.Place]-a.Weight)/lost+1)
		}
	}
	for _, a := range t.Out {
		if won := a.Weight - weight(t.In, a.Place); won > 0 {
			times = min(times, max(0, limit-m[a.Place])/won)
		}
	}
	return times
}

// Remaining returns how many more times t can fire before it runs out of the tokens that it uses
// up. ok is false if t uses up no tokens.
func (t *Transition) Remaining(m Marking) (firings int, ok bool) {
	for _, a := range t.In {
		given := weight(t.Out, a.Place)
		if used := a.Weight - given; used > 0 {
			if each := max(0, m[a.Place]-given) / used; !ok || each < firings {
				firings, ok = each, true
			}
		}
	}
	return firings, ok
}

// FireTimes fires t the given number of times in m. [Transition.MaxFirings] must allow it.
func (t *Transition) FireTimes(m Marking, times int) {
	m.add(t.In, -times)
	m.add(t.Out, times)
}

// ChangesInputOf reports whether firing t changes an input place of u.
func (t *Transition) ChangesInputOf(u *Transition) bool {
	return slices.ContainsFunc(u.In, func(a Arc) bool { return weight(t.In, a.Place) != weight(t.Out, a.Place) })
}

// TakesMissing reports whether t consumes tokens from an input place of u that has too few tokens
// for u. If so, a firing of t may have taken the missing tokens.
func (t *Transition) TakesMissing(u *Transition, m Marking) bool {
	return slices.ContainsFunc(u.In, func(need Arc) bool { return m[need.Place] < need.Weight && weight(t.In, need.Place) > 0 })
}

// AddsMissing reports whether t adds tokens to an input place of u that has too few tokens for u.
func (t *Transition) AddsMissing(u *Transition, m Marking) bool {
	return slices.ContainsFunc(u.In, func(need Arc) bool {
		return m[need.Place] < need.Weight && weight(t.Out, need.Place) > weight(t.In, need.Place)
	})
}
