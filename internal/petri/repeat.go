package petri

import (
	"math"
	"slices"
)

// Times returns how often t can fire on m in a row, if no place may get more than
// most tokens; [math.MaxInt] if there is no end.
func (t *Transition) Times(m Marking, most int) int {
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
			times = min(times, max(0, most-m[a.Place])/won)
		}
	}
	return times
}

// Left counts how often t can fire until the tokens that it uses up are gone; ok is
// false if it uses none up.
func (t *Transition) Left(m Marking) (firings int, ok bool) {
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

// FireTimes fires t so often; [Transition.Times] must allow it.
func (t *Transition) FireTimes(m Marking, times int) {
	for _, a := range t.In {
		m[a.Place] -= times * a.Weight
	}
	for _, a := range t.Out {
		m[a.Place] += times * a.Weight
	}
}

// Touches reports whether a firing of t changes an input place of u.
func (t *Transition) Touches(u *Transition) bool {
	return slices.ContainsFunc(u.In, func(a Arc) bool { return weight(t.In, a.Place) != weight(t.Out, a.Place) })
}

// Holds reports whether t takes tokens of a place in which u finds too few.
func (t *Transition) Holds(u *Transition, m Marking) bool {
	return slices.ContainsFunc(u.In, func(need Arc) bool { return m[need.Place] < need.Weight && weight(t.In, need.Place) > 0 })
}

// Brings reports whether t puts tokens in a place in which u finds too few.
func (t *Transition) Brings(u *Transition, m Marking) bool {
	return slices.ContainsFunc(u.In, func(need Arc) bool {
		return m[need.Place] < need.Weight && weight(t.Out, need.Place) > weight(t.In, need.Place)
	})
}
