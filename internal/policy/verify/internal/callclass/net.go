package callclass

import (
	"encoding/binary"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/listing"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/petri"
)

// A Net describes how a net of the policy sees calls: which of its transitions list a name, and
// which [Meaning] a call has.
type Net struct {
	Info  gate.NetInfo
	Index int
	Place map[string]int // indexes of the places, by name
	Trans []petri.Transition
	Adds  []bool // for each transition, whether the net blocks a call with a weak name instead of firing the transition; see [gate.Transition.WeakProgress]
	Dead  []bool // for each transition, whether it can never fire

	crossed bool // whether two fields of the key are compared with each other; see [Enumerator.Crossed]

	maps     []*mapping // the net's own maps; empty if the net reads the policy's labels
	listing  listing.Listing
	Meanings *Numbers[Meaning] // the effects of calls on the net, shared by all copies of the net
	key      []byte
}

// NewNet prepares a net for the enumeration of calls. info describes the net, and index is its
// position in the policy.
func NewNet(info gate.NetInfo, index int) *Net {
	n := &Net{Info: info, Index: index, Place: make(map[string]int), Meanings: new(Numbers[Meaning])}
	for i, p := range info.Places {
		n.Place[p] = i
	}
	if info.Labels == nil {
		n.maps = newMappings(info.Maps, index)
	}
	net, _ := info.Structure()
	n.Trans = net.Transitions
	for i := range n.Trans {
		n.Adds = append(n.Adds, info.Labels == nil && !info.Transitions[i].WeakProgress && n.Trans[i].Adds())
	}
	n.listing = listing.New(&n.Info.Net)
	n.findDead()
	return n
}

// Numbers assigns consecutive numbers, starting at 0, to values with distinct keys. The zero value
// is empty and ready to use.
type Numbers[T any] struct {
	List []T // values, indexed by their numbers
	of   map[string]int
}

// NumberOf returns the number of the value with the given key. If the key is new, NumberOf adds the
// value.
func (n *Numbers[T]) NumberOf(key []byte, v T) int {
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

// AppendKey appends a list of numbers to key.
func AppendKey(key []byte, numbers []int) []byte {
	for _, n := range numbers {
		key = binary.AppendUvarint(key, uint64(n))
	}
	return key
}

// A Meaning describes the effect of a call on a net. It contains an [Ask] for each name of the call
// that the net lists, in the order of the names. It can also contain Asks without a name, which
// refuse the call in some or all states.
type Meaning []Ask

// An Ask is the part of a [Meaning] that concerns a single name of the call.
type Ask struct {
	gate.Asked       // the transitions that list the name, except those in Spoilers
	Spoilers   []int // the transitions with [gate.Transition.Spoils] that list the name
	Barred     []int // indexes of the places that refuse the call while they are marked; if there are any, the Ask has no name
	Idle       []int // elements of Transitions that admit the call but do not fire, because a field of the key does not have the tracked value
	Refused    bool  // whether a gating transition refuses the call because of its key or sum fields; such an Ask has no name
}

// Spoils reports whether the call prevents other calls in flight from counting toward requirements;
// see [gate.Transition.Spoils].
func (m Meaning) Spoils() bool {
	return slices.ContainsFunc(m, func(a Ask) bool { return len(a.Spoilers) > 0 })
}

// Spoilers returns the transitions with [gate.Transition.Spoils] that list a name of the call,
// without duplicates.
func (m Meaning) Spoilers() []int {
	var all []int
	for _, a := range m {
		all = list.Add(all, a.Spoilers...)
	}
	return all
}

// findDead finds the transitions that can never fire. Such a transition takes tokens from an empty
// place that only dead transitions could fill.
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

// alwaysBlocks reports whether n is known to block calls with [Meaning] e in every state. It
// ignores phases.
func (n *Net) alwaysBlocks(e Meaning) bool {
	open := func(t int) bool { return !n.Dead[t] && !n.Info.Transitions[t].Evidence }
	return slices.ContainsFunc(e, func(a Ask) bool {
		return a.Refused || !a.Free && !n.Observed(a.Transitions) && !slices.ContainsFunc(a.Transitions, open)
	})
}

// initialMarking returns the marking of n before its first call.
func (n *Net) initialMarking() petri.Marking {
	net, m := n.Info.Structure()
	net.Advance(m, n.Info.Structural(), toolnet.MaxRounds, func(m petri.Marking) petri.Marking { return m })
	return m
}

// admitsInitially reports whether n admits a call with [Meaning] m in its initial marking. It
// returns false if any phase bars the call, even if the phase's place is not marked.
func (n *Net) admitsInitially(m Meaning) bool {
	start := n.initialMarking()
	return !slices.ContainsFunc(m, func(a Ask) bool {
		open := func(t int) bool { return !n.Info.Transitions[t].Evidence && n.Trans[t].Enabled(start) }
		return len(a.Barred) > 0 || !a.Free && !n.Observed(a.Transitions) && !slices.ContainsFunc(a.Transitions, open)
	})
}

// Observed reports whether all of the given transitions only observe calls, without gating them.
func (n *Net) Observed(lists []int) bool { return n.listing.OnlyObserve(lists) }

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
	return n.Meanings.NumberOf(k, e)
}

// certainNames returns the names that affect the net only if a call is certain to have them: those
// in exemptions and phases.
func (n *Net) certainNames() []gate.Tool {
	unless := list.FlatMap(n.Info.Transitions, func(t gate.Transition) []gate.Tool { return t.Unless })
	return append(unless, list.FlatMap(n.Info.Phases, func(p gate.Phase) []gate.Tool { return p.Tools })...)
}

// patterns returns the patterns in the net's transitions, maps, exemptions and phases.
func (n *Net) patterns() []naming.Pattern {
	all := append(slices.Clone(n.listing.Patterns()), patternsOf(n.maps)...)
	globs := list.Filter(n.certainNames(), func(u gate.Tool) bool { return u.Kind == gate.Glob })
	return append(all, list.Map(globs, naming.NewPattern)...)
}

// patternsOf returns the patterns of tool names in the map statements. It ignores statements that
// apply to a single tool.
func patternsOf(maps []*mapping) []naming.Pattern {
	var all []naming.Pattern
	for _, m := range maps {
		if m.Glob {
			all = list.Add(all, naming.Pattern{Text: m.Tool})
		}
	}
	return all
}
