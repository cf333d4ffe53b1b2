package explore

import (
	"encoding/binary"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// Net is a net of the policy, made ready to be explored. Its local states are
// numbered as they are met, and every step from one is computed once.
type Net struct {
	*callclass.Net
	lasting    [][]petri.Arc
	free       []int // structural transitions
	timed      []int // those that fire by the clock
	watchAt    []int // number of an observe + deferred transition among the watches, -1
	spoils     bool  // a transition of it spoils what others watch
	static     bool  // it never moves
	incomplete bool  // not all effects that a call can have on it are known

	counterAt int          // the place whose start was made smaller
	capped    map[int]*Net // copies with smaller starts, see [Net.cap]

	aloneCache struct { // the states of the net by itself, of so many effects
		effects int
		locals  []int
		ok      bool
	}

	locals callclass.Numbers[local]
	ends   map[endKey]*ended
	held   *callclass.Numbers[holding] // copies of the net share the numbers; 0: nothing
	key    []byte
}

// A local is one state of the net: tokens at hand, and the number of flights
// of each transition.
type local struct {
	marking petri.Marking
	flights []int
	stuck   bool
	spoiled bool     // a call that spoils is under way: no watch begins
	begins  []*begun // by effect, as far as they are known
}

// A holding is what one call in flight has in the net.
type holding struct {
	flights []int // transitions, in the order in which they were chosen
	watches []int
	spoils  bool // no watch begins until it has ended
}

type verdict uint8

const (
	abstains verdict = iota
	frees
	gates
	blocks
)

// begun is the step of a call that begins.
type begun struct {
	verdict verdict
	manual  bool
	asks    []int  // transitions that are manual
	next    int    // local state
	hold    int    // holding; 0: none
	killed  uint64 // watches of other calls that end
}

type endKey struct {
	local, hold int
	outcome     gate.Outcome
}

// ended is the step of a call that ends.
type ended struct {
	next   int
	hold   int // what is left to it; only after an unknown outcome
	killed uint64
}

// maxRounds is the gate's bound on structural rounds.
const maxRounds = 10_000

func newNet(names *callclass.Net) *Net {
	n := &Net{Net: names, ends: make(map[endKey]*ended), held: new(callclass.Numbers[holding])}
	n.internHold(holding{})
	watches := 0
	for i, t := range n.Info.Transitions {
		n.lasting = append(n.lasting, n.Trans[i].Lasting())
		n.watchAt = append(n.watchAt, -1)
		switch {
		case t.Every > 0:
			n.timed = append(n.timed, i)
		case len(t.Tools) == 0:
			n.free = append(n.free, i)
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
func (n *Net) isStatic() bool {
	for i, t := range n.Info.Transitions {
		same := len(n.lasting[i]) == 0 && !n.Trans[i].Adds()
		if !n.Dead[i] && (!same || t.Deferred) {
			return false
		}
	}
	return true
}

// maxWatches is how many kinds of watches of one net fit in a set; of a net that has
// more nothing is proved.
const maxWatches = 64

// start makes local state 0: the initial marking, at rest.
func (n *Net) start() {
	l := local{marking: make(petri.Marking, len(n.Info.Places)), flights: make([]int, len(n.Trans))}
	for p, tokens := range n.Info.Initial {
		l.marking[n.Place[p]] = tokens
	}
	n.advance(&l)
	n.intern(l)
}

// intern gives a local state its number. The memory of l is kept.
func (n *Net) intern(l local) int {
	k := n.key[:0]
	k = callclass.AppendKey(callclass.AppendKey(k, l.marking), l.flights)
	n.key = append(k, l.flags())
	return n.locals.Of(n.key, l)
}

// flags are what a local state is beside its tokens.
func (l *local) flags() byte { return flag(l.stuck, 1) | flag(l.spoiled, 2) }

func flag(is bool, bit byte) byte {
	if is {
		return bit
	}
	return 0
}

func (n *Net) internHold(h holding) int {
	k := binary.AppendUvarint(append(n.key[:0], flag(h.spoils, 1)), uint64(len(h.flights)))
	n.key = callclass.AppendKey(callclass.AppendKey(k, h.flights), h.watches)
	return n.held.Of(n.key, h)
}

func (l *local) clone() local {
	return local{marking: slices.Clone(l.marking), flights: slices.Clone(l.flights), stuck: l.stuck, spoiled: l.spoiled}
}

func weight(arcs []petri.Arc, place int) int {
	for _, a := range arcs {
		if a.Place == place {
			return a.Weight
		}
	}
	return 0
}

// internData is the number of the local state that the gate describes.
func (n *Net) internData(d *gate.NetData) int {
	l := local{marking: petri.Marking(slices.Clone(d.Marking)), flights: make([]int, len(n.Trans)), stuck: d.Stuck}
	l.spoiled = n.spoils && len(d.Spoilers()) > 0
	for _, f := range d.Flights {
		if len(n.Trans[f.Transition].In) > 0 {
			l.flights[f.Transition]++
		}
	}
	return n.intern(l)
}
