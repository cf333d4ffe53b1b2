// Package petri implements place/transition nets (weighted Petri nets) and their analysis. Places
// and transitions are numbers; names belong to the caller.
//
// A [Net] consists of transitions ([Transition]) with weighted arcs ([Arc]), and a [Marking] is the
// token count of each place. The token game (Enabled, Fire, [Net.Advance]) is used to enforce a
// policy, and [Analyze] to verify it.
//
// Analyze combines several standard techniques:
//
//   - place invariants with Farkas's algorithm ([Invariants])
//   - coverability after Karp and Miller ([FindPump])
//   - breadth-first enumeration of packed markings with a compact hash set
//   - ranges for large counters, whose loops are accelerated
//   - strong stubborn sets, which find all deadlocks by visiting only part of the states
//   - strongly connected components with Tarjan's algorithm, for liveness
//
// All effort is bounded, by [Options] or by constants; results that depend on an incomplete search
// say so ([Stop], [Unknown]). The package starts no goroutines and has no locks. A Net may be
// shared by concurrent analyses, because they only read it.
package petri

import (
	"encoding/binary"
	"iter"
	"slices"
)

// A Net is a set of transitions over places. Places are numbered from 0.
type Net struct {
	Places      int
	Transitions []Transition
}

// A Transition consumes tokens from its input places and produces tokens in its output places. Each
// list contains a place at most once; [Arcs] converts a multiset of places to such a list.
type Transition struct {
	In, Out []Arc
}

// An Arc connects a transition to a place and carries Weight tokens.
type Arc struct {
	Place, Weight int
}

// A Marking holds the token count of each place.
type Marking []int

// Arcs converts a multiset of places into arcs, in order of first occurrence.
func Arcs(places []int) []Arc {
	arcs := make([]Arc, 0, len(places))
	for _, place := range places {
		i := slices.IndexFunc(arcs, func(a Arc) bool { return a.Place == place })
		if i < 0 {
			i = len(arcs)
			arcs = append(arcs, Arc{Place: place})
		}
		arcs[i].Weight++
	}
	return arcs
}

// Enabled reports whether m has all tokens that t consumes.
func (t *Transition) Enabled(m Marking) bool { return m.has(t.In) }

// Take removes the tokens that t consumes from m. t must be enabled.
func (t *Transition) Take(m Marking) { m.add(t.In, -1) }

// GiveBack adds to m the tokens that t consumes, undoing [Transition.Take].
func (t *Transition) GiveBack(m Marking) { m.add(t.In, 1) }

// Put adds the tokens that t produces to m.
func (t *Transition) Put(m Marking) { m.add(t.Out, 1) }

// Fire fires t in m. t must be enabled.
func (t *Transition) Fire(m Marking) {
	m.add(t.In, -1)
	m.add(t.Out, 1)
}

// Consumed returns the tokens that firing t removes permanently: its inputs minus the tokens that
// it returns to the same places.
func (t *Transition) Consumed() []Arc {
	var lasting []Arc
	for _, a := range t.In {
		if w := a.Weight - weight(t.Out, a.Place); w > 0 {
			lasting = append(lasting, Arc{Place: a.Place, Weight: w})
		}
	}
	return lasting
}

// Adds reports whether firing t increases the token count in any place.
func (t *Transition) Adds() bool {
	return slices.ContainsFunc(t.Out, func(a Arc) bool { return a.Weight > weight(t.In, a.Place) })
}

// ConflictsWith reports whether t and u share an input place that does not have enough tokens in m
// for both.
func (t *Transition) ConflictsWith(u *Transition, m Marking) bool {
	return slices.ContainsFunc(t.In, func(a Arc) bool {
		w := weight(u.In, a.Place)
		return w > 0 && m[a.Place] < a.Weight+w
	})
}

// NeverGrows reports whether no transition increases the total number of tokens. If so, the net is
// bounded, and no exploration is needed to prove it.
func (n *Net) NeverGrows() bool {
	ones := slices.Repeat([]int{1}, n.Places)
	return !slices.ContainsFunc(n.Transitions, func(t Transition) bool { return weigh(t.Out, ones) > weigh(t.In, ones) })
}

// has reports whether m has all tokens that the arcs carry.
func (m Marking) has(arcs []Arc) bool {
	for _, a := range arcs {
		if m[a.Place] < a.Weight {
			return false
		}
	}
	return true
}

// add adds the tokens that the arcs carry to m, the given number of times.
func (m Marking) add(arcs []Arc, times int) {
	for _, a := range arcs {
		m[a.Place] += times * a.Weight
	}
}

// AppendKey appends an encoding of m that is unique among markings of the same length.
func (m Marking) AppendKey(b []byte) []byte {
	for _, tokens := range m {
		b = binary.AppendUvarint(b, uint64(tokens))
	}
	return b
}

// weight returns the weight of the arc to place, or 0 if arcs does not contain one.
func weight(arcs []Arc, place int) int {
	for _, a := range arcs {
		if a.Place == place {
			return a.Weight
		}
	}
	return 0
}

// weigh returns the weighted sum of the tokens carried by the arcs.
func weigh(arcs []Arc, weights []int) int {
	sum := 0
	for _, a := range arcs {
		sum += a.Weight * weights[a.Place]
	}
	return sum
}

// Reachable yields each reachable marking once, in breadth-first order, with its enabled
// transitions. For an unbounded net, the sequence is infinite.
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
