package gate

import (
	"math"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/listing"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/petri"
)

// definition is a net as its author wrote it, except that its name may have been made unique.
type definition struct {
	Net               // private copy of the author's net
	reasoned []string // the author's reason, split at each {key}
}

// net is a [Net] prepared for decisions. It is immutable.
type net struct {
	definition
	index int
	print string // fingerprint of the structure and the maps

	net             petri.Net // the net's transitions, in the order of Net.Transitions
	lasting         [][]petri.Arc
	progress        []bool // for each transition, whether a weak name blocks the call instead of firing the transition; a name is weak if the call's success does not count for it; see [Transition.WeakProgress]
	structural      []int  // transitions that fire by themselves: without tools and without a clock
	timed           []int  // timed transitions: those that the clock fires
	independent     bool   // whether the timed transitions tick independently of each other
	initial         petri.Marking
	start           petri.Marking // initial marking, after the structural transitions have fired
	on, off         *NetData      // initial states of the active and of the inactive net, shared by all sessions to save memory
	listing         listing.Listing
	own             naming.Own // computes the names of calls if the net has no Labels
	manual          bool       // whether any transition requires approval
	moving          bool       // whether the clock alone can change the net
	spoils          bool       // whether any transition invalidates earlier successes of calls; see [Transition.Spoils]
	hasEvidence     bool
	awaits          []string // names of the calls whose success the net waits for
	spoiledEvidence []string // names of the calls that [Transition.Spoils] can keep from counting, for messages; equal to awaits, or nil if no transition has Spoils

	budget *budget // the limited quantity; nil unless the net is a limit from the user's rules

	keys    []int        // indexes of the net's distinct keys among the keys of the policy; empty if the net has no key
	keyOf   []int        // index of each transition's key in keys, or -1 if the transition has no key
	written keyvalue.Key // the key as written, with the field names to display
	results []int        // transitions whose key is read from the result
	mixed   bool         // whether any key that reads the result also reads the arguments
}

// A budget is the quantity that a limit from the user's rules restricts: the tokens in a place, or
// a sum.
type budget struct {
	place int // index of the place that holds the tokens; -1 if the budget is a sum
	spend int // index of the transition that uses up the budget
}

// maxTokens is the maximum number of tokens that the clock lets a place accumulate.
const maxTokens = math.MaxInt32

func (n *net) newInitialState(active bool) *NetData {
	d := &NetData{Active: active, Marking: n.start}
	if n.Shadow {
		d.Shadow = &ShadowData{Enforced: &NetData{Active: active, Marking: n.start}}
	}
	return d
}

// withInFlight returns d's marking with the tokens in flight put back into their places.
func (n *net) withInFlight(d *NetData) petri.Marking {
	m := append(petri.Marking(nil), d.Marking...)
	for _, f := range d.Flights {
		n.net.Transitions[f.Transition].GiveBack(m)
	}
	return m
}

// advance fires the structural transitions (which fire by themselves) in m until no more of them
// can fire or a marking repeats; see [petri.Net.Advance]. If this takes more than
// [toolnet.MaxRounds] rounds, advance leaves m unchanged and returns false. Where transitions
// compete for tokens, the tokens of calls in flight count as present, because a call that fails
// returns them.
func (n *net) advance(m petri.Marking, flights []Flight) bool {
	present := func(m petri.Marking) petri.Marking {
		return n.withInFlight(&NetData{Marking: m, Flights: flights})
	}
	return n.net.Advance(m, n.structural, toolnet.MaxRounds, present)
}

// candidate returns the index of the first of the given transitions that is enabled. It returns -1
// if it finds no such transition or the net is stuck. It skips transitions with Spoils, which fire
// separately. Unless observed is true, it also skips transitions with Evidence, so that no call can
// meet its own requirement. In a net with Evidence, observed must be false unless all given
// transitions are observers.
func (n *net) candidate(transitions []int, data *NetData, observed bool) int {
	if data.Stuck {
		return -1
	}
	for _, t := range transitions {
		if def := &n.Transitions[t]; !def.Spoils && (observed || !def.Evidence) && n.net.Transitions[t].Enabled(data.Marking) {
			return t
		}
	}
	return -1
}

// allKeys returns the bit set of all the net's keys.
func (n *net) allKeys() uint64 { return 1<<len(n.keys) - 1 }

// moved reports whether the net has left its initial state or has calls in flight.
func (n *net) moved(d *NetData) bool {
	return len(d.Flights) > 0 || d.Spent != nil || d.Debt() != nil || d.Values.Len() > 0 || !slices.Equal(d.Marking, []int(n.start))
}

// show returns the net's marking for display, including the tokens in flight. It lists all places,
// in the order of n.Places.
func (n *net) show(d *NetData) Marking {
	all := n.withInFlight(d)
	m := make(Marking, len(all))
	for i, place := range n.Places {
		m[i] = Tokens{Place: place, Count: all[i], InFlight: all[i] - d.Marking[i]}
	}
	return m
}
