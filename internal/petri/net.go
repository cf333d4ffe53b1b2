// Package petri holds place/transition nets: arcs with weights, markings,
// firing, and the exhaustive exploration of what a net can reach.
//
// Places and transitions are numbers; names belong to the caller.
package petri

import (
	"encoding/binary"
	"iter"
	"slices"
)

// A Net is a set of transitions over places that are numbered from 0.
type Net struct {
	Places      int
	Transitions []Transition
}

// A Transition takes tokens from its inputs and puts tokens into its outputs.
// A place stands at most once in each; [Arcs] makes them from multisets.
type Transition struct {
	In, Out []Arc
}

// An Arc joins a transition to a place; it carries Weight tokens.
type Arc struct {
	Place, Weight int
}

// Marking is the number of tokens in each place.
type Marking []int

// Arcs turns a multiset of places into arcs, in the order of first occurrence.
func Arcs(places []int) []Arc {
	arcs := make([]Arc, 0, len(places))
next:
	for _, place := range places {
		for i := range arcs {
			if arcs[i].Place == place {
				arcs[i].Weight++
				continue next
			}
		}
		arcs = append(arcs, Arc{Place: place, Weight: 1})
	}
	return arcs
}

// Enabled reports whether m holds every token that t takes.
func (t *Transition) Enabled(m Marking) bool {
	for _, a := range t.In {
		if m[a.Place] < a.Weight {
			return false
		}
	}
	return true
}

// Take removes from m what t consumes; t must be enabled.
func (t *Transition) Take(m Marking) {
	for _, a := range t.In {
		m[a.Place] -= a.Weight
	}
}

// GiveBack undoes [Transition.Take].
func (t *Transition) GiveBack(m Marking) {
	for _, a := range t.In {
		m[a.Place] += a.Weight
	}
}

// Put adds to m what t produces.
func (t *Transition) Put(m Marking) {
	for _, a := range t.Out {
		m[a.Place] += a.Weight
	}
}

// Fire takes and puts; t must be enabled.
func (t *Transition) Fire(m Marking) {
	t.Take(m)
	t.Put(m)
}

// Lasting returns the tokens that a firing of t removes for good: its inputs without
// those that it puts back on the same places.
func (t *Transition) Lasting() []Arc {
	var lasting []Arc
	for _, a := range t.In {
		if w := a.Weight - weight(t.Out, a.Place); w > 0 {
			lasting = append(lasting, Arc{Place: a.Place, Weight: w})
		}
	}
	return lasting
}

// Adds reports whether a firing of t leaves more tokens in some place than it found there.
func (t *Transition) Adds() bool {
	return slices.ContainsFunc(t.Out, func(a Arc) bool { return a.Weight > weight(t.In, a.Place) })
}

// Clash reports whether m has too few tokens in a shared input place of t and
// u for both of them.
func (t *Transition) Clash(u *Transition, m Marking) bool {
	for _, a := range t.In {
		if w := weight(u.In, a.Place); w > 0 && m[a.Place] < a.Weight+w {
			return true
		}
	}
	return false
}

// NeverGrows reports whether no transition makes the total of all tokens
// larger. Such a net is bounded, and this needs no exploration.
func (n *Net) NeverGrows() bool {
	ones := slices.Repeat([]int{1}, n.Places)
	return !slices.ContainsFunc(n.Transitions, func(t Transition) bool { return weigh(t.Out, ones) > weigh(t.In, ones) })
}

// AppendKey appends an encoding of m that no other marking of the same length has.
func (m Marking) AppendKey(b []byte) []byte {
	for _, tokens := range m {
		b = binary.AppendUvarint(b, uint64(tokens))
	}
	return b
}

// weight returns the weight of the arc to place, or 0.
func weight(arcs []Arc, place int) int {
	for _, a := range arcs {
		if a.Place == place {
			return a.Weight
		}
	}
	return 0
}

// Reachable yields the markings that the net can reach, with the transitions that
// are enabled in each: each marking once, the nearest first. It never ends for an
// unbounded net.
func (n *Net) Reachable(initial Marking) iter.Seq2[Marking, []int] {
	return func(yield func(Marking, []int) bool) {
		seen := make(map[string]bool)
		var queue []Marking
		visit := func(m Marking) {
			if key := string(m.AppendKey(nil)); !seen[key] {
				seen[key] = true
				queue = append(queue, m)
			}
		}
		for visit(initial); len(queue) > 0; queue = queue[1:] {
			m := queue[0]
			var enabled []int
			for i := range n.Transitions {
				if t := &n.Transitions[i]; t.Enabled(m) {
					enabled = append(enabled, i)
					next := slices.Clone(m)
					t.Fire(next)
					visit(next)
				}
			}
			if !yield(m, enabled) {
				return
			}
		}
	}
}
