// Package petri holds place/transition nets: arcs with weights, markings,
// firing, and the exhaustive exploration of what a net can reach.
//
// Places and transitions are numbers; names belong to the caller.
package petri

import "encoding/binary"

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
	for _, a := range t.Out {
		if a.Weight > weight(t.In, a.Place) {
			return true
		}
	}
	return false
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

// growth returns the change of the total number of tokens by a firing of t.
func (t *Transition) growth() int {
	n := 0
	for _, a := range t.Out {
		n += a.Weight
	}
	for _, a := range t.In {
		n -= a.Weight
	}
	return n
}

// NeverGrows reports whether no transition makes the total of all tokens
// larger. Such a net is bounded, and this needs no exploration.
func (n *Net) NeverGrows() bool {
	for i := range n.Transitions {
		if n.Transitions[i].growth() > 0 {
			return false
		}
	}
	return true
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
