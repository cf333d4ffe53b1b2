package verify

import (
	"encoding/binary"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/petri"
)

// net is a net of the policy, made ready to be explored. Its local states are
// numbered as they are met, and every step from one is computed once.
type net struct {
	info    gate.NetInfo
	index   int
	trans   []petri.Transition
	lasting [][]petri.Arc
	adds    []bool         // transitions for which a weak name is not enough
	free    []int          // structural transitions
	timed   []int          // those that fire by the clock
	watchAt []int          // number of an observe + deferred transition among the watches, -1
	place   map[string]int // numbers of the places
	dead    []bool         // transitions that can never fire, whatever happens
	still   bool           // it never moves
	wild    bool           // not all effects that a call can have on it are known

	counterAt int // the place whose start was made smaller; see [model.cap]

	rows  map[string]row
	globs []globRow

	known *effects
	apart struct { // the states of the net by itself, of so many effects
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

// effects numbers the effects of calls on a net; copies of it share the numbers.
type effects struct {
	list []effect
	id   map[string]int
}

// A row is what the net says of one name: see gate.Net.
type row struct {
	free  bool
	plain []int
	exact []int
}

// A local is one state of the net: tokens at hand, and the number of flights
// of each transition.
type local struct {
	marking petri.Marking
	flights []int
	stuck   bool
}

// An effect is what a call means to the net: its names in order, each with
// the transitions that list it.
type effect []ask

type ask struct {
	lists []int
	weak  bool
	free  bool
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

func newNet(info gate.NetInfo, index int) *net {
	n := &net{
		info: info, index: index, place: make(map[string]int), rows: make(map[string]row),
		known: &effects{id: make(map[string]int)}, localID: make(map[string]int), ends: make(map[endKey]*ended),
		held: &holdings{list: make([]holding, 1), id: map[string]int{string(make([]byte, 4)): 0}},
	}
	for i, p := range info.Places {
		n.place[p] = i
	}
	watches := 0
	for i, t := range info.Transitions {
		pt := petri.Transition{In: n.arcs(t.Inputs), Out: n.arcs(t.Outputs)}
		n.trans = append(n.trans, pt)
		n.lasting = append(n.lasting, pt.Lasting())
		n.adds = append(n.adds, info.Labels == nil && !t.WeakProgress && pt.Adds())
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
	n.list()
	n.findDead()
	n.start()
	return n
}

// maxWatches is how many kinds of watches of one net fit in a set.
const maxWatches = 64

// tooWide reports whether the net has more kinds of watches than that.
func (n *net) tooWide() bool { return slices.Max(append(n.watchAt, -1)) >= maxWatches }

func (n *net) arcs(places []string) []petri.Arc {
	numbers := make([]int, len(places))
	for i, p := range places {
		numbers[i] = n.place[p]
	}
	return petri.Arcs(numbers)
}

// start makes local state 0: the initial marking, at rest.
func (n *net) start() {
	l := local{marking: make(petri.Marking, len(n.info.Places)), flights: make([]int, len(n.trans))}
	for p, tokens := range n.info.Initial {
		l.marking[n.place[p]] = tokens
	}
	n.advance(&l)
	n.intern(l)
}

// findDead finds the transitions that need a place which no run can mark:
// the places that are empty, and that only a transition fills which takes from
// one of them.
func (n *net) findDead() {
	empty := make([]bool, len(n.info.Places))
	for i, p := range n.info.Places {
		empty[i] = n.info.Initial[p] == 0
	}
	n.dead = make([]bool, len(n.trans))
	for again := true; again; {
		again = false
		for i := range n.trans {
			t := &n.trans[i]
			n.dead[i] = slices.ContainsFunc(t.In, func(a petri.Arc) bool { return empty[a.Place] })
			if n.dead[i] {
				continue
			}
			for _, a := range t.Out {
				again = again || empty[a.Place]
				empty[a.Place] = false
			}
		}
	}
	n.still = true
	for i, t := range n.info.Transitions {
		same := len(n.lasting[i]) == 0 && total(n.trans[i].In) == total(n.trans[i].Out)
		n.still = n.still && (n.dead[i] || same && !t.Deferred)
	}
}

func total(arcs []petri.Arc) int {
	sum := 0
	for _, a := range arcs {
		sum += a.Weight
	}
	return sum
}

// shut reports whether the net blocks e in every state.
func (n *net) shut(e effect) bool {
	for _, a := range e {
		if a.free || len(a.lists) == 0 {
			continue
		}
		open := false
		observers := true
		for _, t := range a.lists {
			open = open || !n.dead[t]
			observers = observers && n.info.Transitions[t].Observe
		}
		if !open && !observers {
			return true
		}
	}
	return false
}

// intern gives a local state its number. The memory of l is kept.
func (n *net) intern(l local) int {
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

func (n *net) internHold(h holding) int {
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

func (n *net) internEffect(e effect) int {
	k := n.key[:0]
	for _, a := range e {
		flags := byte(0)
		if a.weak {
			flags |= 1
		}
		if a.free {
			flags |= 2
		}
		k = append(k, flags)
		k = binary.AppendUvarint(k, uint64(len(a.lists)))
		for _, t := range a.lists {
			k = binary.AppendUvarint(k, uint64(t))
		}
	}
	n.key = k
	if id, ok := n.known.id[string(k)]; ok {
		return id
	}
	n.known.id[string(k)] = len(n.known.list)
	n.known.list = append(n.known.list, e)
	return len(n.known.list) - 1
}

func (l *local) clone() local {
	return local{marking: slices.Clone(l.marking), flights: slices.Clone(l.flights), stuck: l.stuck}
}
