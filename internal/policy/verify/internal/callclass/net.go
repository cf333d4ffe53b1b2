package callclass

import (
	"encoding/binary"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/petri"
)

// A Net is a net of the policy as far as it tells calls apart: which of its
// transitions list a name, and what a call with some names means to it.
type Net struct {
	Info  gate.NetInfo
	Index int
	Place map[string]int // numbers of the places
	Trans []petri.Transition
	Adds  []bool // transitions for which a weak name is not enough
	Dead  []bool // transitions that can never fire, whatever happens

	crossed bool // see [Enumerator.Crossed]

	maps     []*mapping // of its own; none where it reads the labels of the policy
	rows     map[string]row
	globs    []glob
	numbers  []int             // of the globs: in the policy where the net reads its labels
	matched  [][]int           // transitions that list the globs
	Meanings *Numbers[Meaning] // copies of the net share the numbers
	key      []byte
}

// NewNet reads the listing of a net; index is its number in the policy.
func NewNet(info gate.NetInfo, index int) *Net {
	n := &Net{Info: info, Index: index, Place: make(map[string]int), rows: make(map[string]row), Meanings: new(Numbers[Meaning])}
	for i, p := range info.Places {
		n.Place[p] = i
	}
	if info.Labels == nil {
		n.maps = newMappings(info.Maps, index)
	}
	for _, t := range info.Transitions {
		pt := petri.Transition{In: n.arcs(t.Inputs), Out: n.arcs(t.Outputs)}
		n.Trans = append(n.Trans, pt)
		n.Adds = append(n.Adds, info.Labels == nil && !t.WeakProgress && pt.Adds())
	}
	n.list()
	n.findDead()
	return n
}

// Numbers gives numbers to values by their keys, from 0.
type Numbers[T any] struct {
	List []T // by number
	of   map[string]int
}

// Of returns the number of the value that has the key.
func (n *Numbers[T]) Of(key []byte, v T) int {
	number, ok := n.of[string(key)]
	if !ok {
		if n.of == nil {
			n.of = make(map[string]int)
		}
		number = len(n.List)
		n.of[string(key)] = number
		n.List = append(n.List, v)
	}
	return number
}

// AppendKey appends a list of numbers to a key.
func AppendKey(key []byte, numbers []int) []byte {
	for _, n := range numbers {
		key = binary.AppendUvarint(key, uint64(n))
	}
	return key
}

// A row is what the net says of one name: see gate.Net.
type row struct {
	free  bool
	plain []int
	exact []int
}

// A Meaning is what a call means to the net: its names in order, each with
// the transitions that list it.
type Meaning []Ask

// An Ask is what one name of a call means to the net.
type Ask struct {
	gate.Asked       // without the transitions that spoil
	Spoilers   []int // transitions that list the name and spoil
	Barred     []int // places whose phases do not let the call pass; there is no name then
	Idle       []int // those of Transitions that wait for another value in the result
	Refused    bool  // a transition that gates the call needs a value that it lacks; likewise
}

// Spoils reports whether the call spoils what is watched in the net.
func (m Meaning) Spoils() bool {
	return slices.ContainsFunc(m, func(a Ask) bool { return len(a.Spoilers) > 0 })
}

// Spoilers are the transitions of the call that spoil, each once.
func (m Meaning) Spoilers() []int {
	var all []int
	for _, a := range m {
		all = include(all, a.Spoilers...)
	}
	return all
}

func (n *Net) arcs(places []string) []petri.Arc {
	numbers := make([]int, len(places))
	for i, p := range places {
		numbers[i] = n.Place[p]
	}
	return petri.Arcs(numbers)
}

// findDead finds the transitions that need a place which no run can mark:
// the places that are empty, and that only a transition fills which takes from
// one of them.
func (n *Net) findDead() {
	empty := make([]bool, len(n.Info.Places))
	for i, p := range n.Info.Places {
		empty[i] = n.Info.Initial[p] == 0
	}
	n.Dead = make([]bool, len(n.Trans))
	for again := true; again; {
		again = false
		for i := range n.Trans {
			t := &n.Trans[i]
			n.Dead[i] = slices.ContainsFunc(t.In, func(a petri.Arc) bool { return empty[a.Place] })
			if n.Dead[i] {
				continue
			}
			for _, a := range t.Out {
				again = again || empty[a.Place]
				empty[a.Place] = false
			}
		}
	}
}

// shut reports whether the net blocks e in every state.
func (n *Net) shut(e Meaning) bool {
	for _, a := range e {
		if a.Refused {
			return true
		}
		open := func(t int) bool { return !n.Dead[t] && !n.Info.Transitions[t].Evidence }
		if !a.Free && !n.Observed(a.Transitions) && !slices.ContainsFunc(a.Transitions, open) {
			return true
		}
	}
	return false
}

// maxRounds is the gate's bound on structural rounds.
const maxRounds = 10_000

// start is the marking in which the net waits for its first call.
func (n *Net) start() petri.Marking {
	m := make(petri.Marking, len(n.Info.Places))
	for p, tokens := range n.Info.Initial {
		m[n.Place[p]] = tokens
	}
	var structural []int
	for i, t := range n.Info.Transitions {
		if len(t.Tools) == 0 && t.Every == 0 {
			structural = append(structural, i)
		}
	}
	net := petri.Net{Places: len(n.Info.Places), Transitions: n.Trans}
	net.Advance(m, structural, maxRounds, func(m petri.Marking) petri.Marking { return m })
	return m
}

// begins reports whether the net lets the call pass at its start.
func (n *Net) begins(m Meaning) bool {
	start := n.start()
	return !slices.ContainsFunc(m, func(a Ask) bool {
		open := func(t int) bool { return !n.Info.Transitions[t].Evidence && n.Trans[t].Enabled(start) }
		return len(a.Barred) > 0 || !a.Free && !n.Observed(a.Transitions) && !slices.ContainsFunc(a.Transitions, open)
	})
}

// Observed reports whether all of the transitions only observe calls.
func (n *Net) Observed(lists []int) bool {
	return !slices.ContainsFunc(lists, func(t int) bool { return !n.Info.Transitions[t].Observe })
}

func (n *Net) intern(e Meaning) int {
	k := n.key[:0]
	for _, a := range e {
		flags := byte(0)
		if a.Weak {
			flags |= 1
		}
		if a.Free {
			flags |= 2
		}
		if a.Refused {
			flags |= 4
		}
		k = append(k, flags)
		k = AppendKey(binary.AppendUvarint(k, uint64(len(a.Transitions))), a.Transitions)
		k = AppendKey(binary.AppendUvarint(k, uint64(len(a.Spoilers))), a.Spoilers)
		k = AppendKey(binary.AppendUvarint(k, uint64(len(a.Barred))), a.Barred)
		k = AppendKey(binary.AppendUvarint(k, uint64(len(a.Idle))), a.Idle)
	}
	n.key = k
	return n.Meanings.Of(k, e)
}
