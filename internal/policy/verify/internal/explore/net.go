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
	names   *callclass.Net
	Info    gate.NetInfo
	index   int
	trans   []petri.Transition
	lasting [][]petri.Arc
	adds    []bool         // see [listing]
	free    []int          // structural transitions
	timed   []int          // those that fire by the clock
	watchAt []int          // number of an observe + deferred transition among the watches, -1
	place   map[string]int // numbers of the places
	still   bool           // it never moves
	wild    bool           // not all effects that a call can have on it are known

	counterAt int // the place whose start was made smaller; see [Model.cap]

	meanings *callclass.Meanings
	apart    struct { // the states of the net by itself, of so many effects
		effects int
		locals  []int
		ok      bool
	}

	locals  []local
	localID map[string]int
	begins  [][]*begun
	ends    map[endKey]*ended

	held *holdings
	key  []byte
}

// holdings numbers the holdings of a net; copies of it share the numbers.
type holdings struct {
	list []holding
	id   map[string]int
}

// A local is one state of the net: tokens at hand, and the number of flights
// of each transition.
type local struct {
	marking petri.Marking
	flights []int
	stuck   bool
}

// A holding is what one call in flight has in the net.
type holding struct {
	flights []int // transitions, in the order in which they were chosen
	watches []int
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
	next    int    // local state
	hold    int    // holding; 0: none
	killed  uint64 // watches of other calls that end
	chosen  []int  // transitions
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
	n := &Net{
		names: names, Info: names.Info, index: names.Index, trans: names.Trans, adds: names.Adds, place: names.Place, meanings: names.Meanings,
		localID: make(map[string]int), ends: make(map[endKey]*ended),
		held: &holdings{list: make([]holding, 1), id: map[string]int{string(make([]byte, 4)): 0}},
	}
	watches := 0
	for i, t := range n.Info.Transitions {
		n.lasting = append(n.lasting, n.trans[i].Lasting())
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
	n.still = n.isStill()
	n.start()
	return n
}

// isStill reports whether no transition that can fire changes the marking.
func (n *Net) isStill() bool {
	for i, t := range n.Info.Transitions {
		same := len(n.lasting[i]) == 0 && total(n.trans[i].In) == total(n.trans[i].Out)
		if !n.names.Dead[i] && (!same || t.Deferred) {
			return false
		}
	}
	return true
}

// maxWatches is how many kinds of watches of one net fit in a set.
const maxWatches = 64

// tooWide reports whether the net has more kinds of watches than that.
func (n *Net) tooWide() bool { return slices.Max(append(n.watchAt, -1)) >= maxWatches }

// start makes local state 0: the initial marking, at rest.
func (n *Net) start() {
	l := local{marking: make(petri.Marking, len(n.Info.Places)), flights: make([]int, len(n.trans))}
	for p, tokens := range n.Info.Initial {
		l.marking[n.place[p]] = tokens
	}
	n.advance(&l)
	n.intern(l)
}

func total(arcs []petri.Arc) int {
	sum := 0
	for _, a := range arcs {
		sum += a.Weight
	}
	return sum
}

// intern gives a local state its number. The memory of l is kept.
func (n *Net) intern(l local) int {
	k := n.key[:0]
	for _, tokens := range l.marking {
		k = binary.AppendUvarint(k, uint64(tokens))
	}
	for _, f := range l.flights {
		k = binary.AppendUvarint(k, uint64(f))
	}
	if l.stuck {
		k = append(k, 1)
	}
	n.key = k
	if id, ok := n.localID[string(k)]; ok {
		return id
	}
	n.localID[string(k)] = len(n.locals)
	n.locals = append(n.locals, l)
	n.begins = append(n.begins, nil)
	return len(n.locals) - 1
}

func (n *Net) internHold(h holding) int {
	k := binary.LittleEndian.AppendUint32(n.key[:0], uint32(len(h.flights)))
	for _, t := range h.flights {
		k = binary.AppendUvarint(k, uint64(t))
	}
	for _, t := range h.watches {
		k = binary.AppendUvarint(k, uint64(t))
	}
	n.key = k
	if id, ok := n.held.id[string(k)]; ok {
		return id
	}
	n.held.id[string(k)] = len(n.held.list)
	n.held.list = append(n.held.list, h)
	return len(n.held.list) - 1
}

func (l *local) clone() local {
	return local{marking: slices.Clone(l.marking), flights: slices.Clone(l.flights), stuck: l.stuck}
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
	l := local{marking: petri.Marking(slices.Clone(d.Marking)), flights: make([]int, len(n.trans)), stuck: d.Stuck}
	for _, f := range d.Flights {
		if len(n.trans[f.Transition].In) > 0 {
			l.flights[f.Transition]++
		}
	}
	return n.intern(l)
}
