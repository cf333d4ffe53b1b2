package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/listing"
	"github.com/petrigate/petrigate/gate/internal/naming"
)

// namedCall is a call with the names that a policy gives it.
type namedCall struct {
	policy      *Policy
	call        *Call
	tools       []naming.Label // physical names
	labels      []naming.Label // labels of the policy, physical names first
	withoutMaps bool           // without names from maps
}

// judgement collects the verdicts of the nets on one call in one state. Before
// [judgement.classify], only policy and call must be set and [judgement.name] called.
type judgement struct {
	namedCall
	state *State
	set   listing.Set // nets that might apply to the call

	keyed *keyedCall // nil: no net with a key applies, or the arguments are unknown
	spare *keyedCall // cleared; for reuse as keyed

	findings findings // in order; without nets that abstain and do not move
	room     []choice // empty, with capacity for the choices of the next net
	blocked  bool
	manual   bool
	known    bool       // an active net gates a certain name, or has it among its free tools
	replayed bool       // the call was made regardless of the verdicts
	offered  []Call     // tools that can be called; nil: those of the state
	world    world      // the default is acting
	row      string     // see [argument.Fingerprint]; empty: no net counts rows
	ticked   []NetDelta // changes by the clock in the evaluated nets
	shadows  []subject  // nets in shadow mode that apply to the call

	// Preallocated space for the usual case, so that a decision needs few allocations.
	waived []naming.Label // uncertain names of the call that a person is asked about

	toolRoom    [3]naming.Label
	labelRoom   [4]naming.Label
	findingRoom [5]finding
	choiceRoom  [5]choice
	scratchRoom [8]int
	setRoom     [4]uint64
}

// world selects the nets that a judgement evaluates, and which of their states it uses.
type world uint8

const (
	acting   world = iota // the nets that enforce
	enforced              // the nets in shadow mode, in the state after blocking
	actual                // the nets in shadow mode, in the state after all calls made, where possible
)

// names returns the names of the call given by the policy and by the evaluated nets.
func (j *judgement) names() []Name {
	ls := j.labels
	if len(j.waived) > 0 {
		ls = naming.Merge(slices.Clip(ls), j.waived)
	}
	for i := range j.findings {
		if f := &j.findings[i]; f.kind != Abstain && f.net.Labels == nil && f.net.own.Adds() {
			ls = naming.Merge(ls[:len(ls):len(ls)], f.labels)
		}
	}
	return naming.Names(ls)
}
