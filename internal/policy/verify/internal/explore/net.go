package explore

import (
	"encoding/binary"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A structure is the constant part of a net: its transitions and the effect of each call.
type structure struct {
	*callclass.Net
	lasting    [][]petri.Arc
	free       []int // indexes of structural transitions, which fire on their own
	timed      []int // indexes of timed transitions, which the clock fires
	watchAt    []int // for each observing transition that waits for calls to succeed, its index among such transitions; -1 for other transitions
	spoils     bool  // whether some call can keep other calls from counting toward a requirement; see [gate.Transition.Spoils]
	static     bool  // whether the marking never changes
	incomplete bool  // whether some effects that calls can have on the net are unknown
}

// A Net is a net of the policy, prepared for exploration. Its local states are numbered when first
// reached, and every step from a state is computed only once.
type Net struct {
	structure

	counterAt int          // index of the place whose initial marking was reduced; see [Net.cap]
	capped    map[int]*Net // copies with reduced counters, by the initial number of tokens; see [Net.cap]

	aloneCache struct { // cached result of [Net.reachableAlone]; valid until more effects of calls on the net are found
		effects int
		locals  []int
		ok      bool
	}

	locals callclass.Numbers[localState]
	ends   map[endKey]*callEnd
	held   *callclass.Numbers[holding] // the known holdings by number, shared by all copies of the net; number 0 is the empty holding
	key    []byte
}

// A localState is the state of a single net. It consists of the available tokens, the number of
// calls in flight per transition, and a few flags.
type localState struct {
	marking petri.Marking
	flights []int
	stuck   bool
	spoiled bool         // whether a call in flight keeps other calls from counting toward a requirement; see [gate.Transition.Spoils]
	begins  []*callStart // cached results of begin, by effect; nil if not yet computed
}

// A holding is the information that a net keeps about a call in flight: the transitions that have
// taken tokens for the call, and the observers that fire if the call succeeds.
type holding struct {
	flights []int // transitions in flight, in the order they were chosen for the call
	watches []int // indexes of the observers that wait for the call to succeed
	spoils  bool  // whether the call keeps other calls from counting toward a requirement; see [gate.Transition.Spoils]
}

type verdict uint8

const (
	abstains verdict = iota
	frees
	gates
	blocks
)

// A callStart describes the beginning of a call in one net.
type callStart struct {
	verdict verdict
	manual  bool
	asks    []int  // transitions that require approval
	next    int    // local state after the call has begun
	hold    int    // index of the call's [holding]; 0 if the call holds nothing
	killed  uint64 // set of observers that stop waiting for other calls when this call begins
}

type endKey struct {
	local, hold int
	outcome     gate.Outcome
}

// A callEnd describes the end of a call in one net.
type callEnd struct {
	next   int
	hold   int // index of the [holding] that remains; nonzero only after an unknown outcome
	killed uint64
}

func newNet(names *callclass.Net) *Net {
	n := &Net{structure: structure{Net: names}, ends: make(map[endKey]*callEnd), held: new(callclass.Numbers[holding])}
	n.free = n.Info.Structural()
	n.internHold(holding{})
	watches := 0
	for i, t := range n.Info.Transitions {
		n.lasting = append(n.lasting, n.Trans[i].Consumed())
		n.watchAt = append(n.watchAt, -1)
		if t.Every > 0 {
			n.timed = append(n.timed, i)
		}
		if t.Observe && t.Deferred {
			n.watchAt[i] = watches
			watches++
		}
	}
	n.spoils = watches > 0 && slices.ContainsFunc(n.Info.Transitions, func(t gate.Transition) bool { return t.Spoils })
	n.static = n.isStatic()
	n.start()
	return n
}

// isStatic reports whether no transition that can fire changes the marking.
func (n *structure) isStatic() bool {
	for i, t := range n.Info.Transitions {
		same := len(n.lasting[i]) == 0 && !n.Trans[i].Adds()
		if !n.Dead[i] && (!same || t.Deferred) {
			return false
		}
	}
	return true
}

// maxWatches is the maximum number of transitions of a net that can wait for calls to succeed. Sets
// of these transitions are stored in a uint64. Nothing is proved about a net that exceeds the
// maximum.
const maxWatches = 64

// start creates local state 0: the initial marking after the structural transitions have fired.
func (n *Net) start() {
	l := localState{flights: make([]int, len(n.Trans))}
	_, l.marking = n.Info.Structure()
	n.advance(&l)
	n.intern(l)
}

// intern returns the index of the local state l in n.locals, adding l if necessary. It takes
// ownership of l.
func (n *Net) intern(l localState) int {
	k := n.key[:0]
	k = callclass.AppendKey(callclass.AppendKey(k, l.marking), l.flights)
	n.key = append(k, l.flags())
	return n.locals.NumberOf(n.key, l)
}

// flags encodes a local state except for its tokens and transitions in flight.
func (l *localState) flags() byte { return flag(l.stuck, 1) | flag(l.spoiled, 2) }

func flag(is bool, bit byte) byte {
	if is {
		return bit
	}
	return 0
}

func (n *Net) internHold(h holding) int {
	k := binary.AppendUvarint(append(n.key[:0], flag(h.spoils, 1)), uint64(len(h.flights)))
	n.key = callclass.AppendKey(callclass.AppendKey(k, h.flights), h.watches)
	return n.held.NumberOf(n.key, h)
}

func (l *localState) clone() localState {
	return localState{marking: slices.Clone(l.marking), flights: slices.Clone(l.flights), stuck: l.stuck, spoiled: l.spoiled}
}

func weight(arcs []petri.Arc, place int) int {
	for _, a := range arcs {
		if a.Place == place {
			return a.Weight
		}
	}
	return 0
}

// internData returns the index of the local state that corresponds to d, the state of the net in
// the gate.
func (n *Net) internData(d *gate.NetData) int {
	l := localState{marking: petri.Marking(slices.Clone(d.Marking)), flights: make([]int, len(n.Trans)), stuck: d.Stuck}
	l.spoiled = n.spoils && len(d.Spoilers()) > 0
	for _, f := range d.Flights {
		if len(n.Trans[f.Transition].In) > 0 {
			l.flights[f.Transition]++
		}
	}
	return n.intern(l)
}

// advance fires the structural transitions until no more of them can fire or a marking repeats. If
// this does not terminate within [toolnet.MaxRounds], it restores the marking and returns false.
func (n *structure) advance(l *localState) bool {
	if !slices.ContainsFunc(n.free, func(t int) bool { return n.Trans[t].Enabled(l.marking) }) {
		return true
	}
	net := petri.Net{Places: len(l.marking), Transitions: n.Trans}
	return net.Advance(l.marking, n.free, toolnet.MaxRounds, func(petri.Marking) petri.Marking { return n.restoredMarking(l) })
}

// restoredMarking returns the marking after all tokens in flight have returned to the places that
// they came from.
func (n *structure) restoredMarking(l *localState) petri.Marking {
	m := slices.Clone(l.marking)
	for t, flights := range l.flights {
		for range flights {
			n.Trans[t].GiveBack(m)
		}
	}
	return m
}
