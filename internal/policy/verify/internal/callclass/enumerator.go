package callclass

import (
	"fmt"
	"math/big"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
)

// An Enumerator enumerates the call classes of a policy. It must not be used concurrently.
type Enumerator struct {
	keyFields
	classes           Numbers[*Class]
	gaps              []gap // calls that were omitted
	deferred          []*deferred
	overflows         []string // gaps found in deferred calls
	Deny              bool
	certainties       map[string]certainty   // properties that matter, by label of a reader
	conditions        map[string]*conditions // conditions, by tool
	paths             map[string][]string    // by tool; see [Enumerator.pathsOf]
	certainConditions map[*mapping]bool      // see [Enumerator.certainIfHolds]
	lacks             func(tool string, f gate.Field) string
}

// keyFields holds the fields that keys and assertions read from the calls of a vocabulary.
type keyFields struct {
	vocabulary
	sorts  []*sort
	sortOf map[gate.Field]int
	asked  []Reading // fields that assertions read
}

// A Class is a kind of call: a physical tool together with the names that a single real call can
// have.
type Class struct {
	Tool     string
	Args     string         // a witness in JSON; empty: {}
	Doubtful bool           // no arguments with exactly these names are known
	supposed bool           // the tool might not exist
	lacking  string         // argument of the calls that is not listed in the tool's schema; may be empty
	labels   []naming.Label // first the policy's labels, then those added by nets' own maps, then patterns that match a label
	Effects  []Effect       // at most one per net
	Knowers  []int          // indexes of the nets that know the call; a default that denies unknown calls uses them
	Waits    bool           // not a call: time passes until the clock fires a transition
	Wait     time.Duration
	Shut     []int // indexes of the nets that block the class in every state
	Data     []Datum
	Spends   bool // every known call of the class increases the sum of some net

	of        *recipe  // describes how to build the arguments
	exchanged *Class   // see [Class.Exchanged]
	alike     []*Class // the classes of the same call with all combinations of presences of the tracked value
}

// An Effect is the number of the [Meaning] that a class has in a net.
type Effect struct{ Net, Meaning int }

// A recipe describes how to build the arguments of a class.
type recipe struct {
	b        *Enumerator
	form     *form
	data     presences
	sums     []sum
	maySpend bool   // the arguments may increase sums
	fixed    Values // values specified by the form
}

type presences []Datum

// A sum is a net's sum over a field of a class's calls.
type sum struct {
	field gate.Field
	most  *big.Rat // maximum amount per call
	net   int
}

// deferred represents calls that can be distinguished in too many ways to list them all. They
// differ in atoms, and any single question sees only few atoms. The classes are created when the
// question is asked.
type deferred struct {
	nets     []int        // nets that a single call can affect together
	byNet    [][]int      // atoms that the net can see, by net
	alone    [][]contrast // calls with and without the atom, by atom
	of       func(atoms []int) kinds
	made     map[string]kinds // cached results, by atoms
	overflow string           // the reason why not all calls can be created if all atoms are visible
}

// A contrast is the class of a call with a single atom, and the class of the same call without it.
type contrast struct{ with, without *Class }

// kinds holds the classes of deferred calls that some atoms distinguish. gap is the reason why
// these may not be all classes; it is empty if they are.
type kinds struct {
	classes []*Class
	gap     string
}

// A gap describes omitted calls of a tool, or of any tool if tool is empty.
type gap struct{ tool, text string }

// certainty records whether a label matters as evidence, and whether its certainty matters.
type certainty struct{ evidence, certain bool }

// conditions groups the maps of a tool that read a whole call, such as CEL conditions. Because no
// text can be constructed for them, sample arguments are tried until all maps give the results that
// a class requires. If no sample does, the class has no known arguments.
type conditions struct {
	maps    []*mapping
	samples []map[string]any // the empty sample comes first
	found   map[string][]gate.Found
}

func (b *Enumerator) addGap(tool, format string, args ...any) {
	b.gaps = include(b.gaps, gap{tool, fmt.Sprintf(format, args...)})
}

// fields returns the names of those fields of the tool that some map or action rule reads.
func (b *vocabulary) fields(tools []naming.Label) []string {
	var fields []string
	for _, m := range b.maps {
		if m.appliesTo(tools) {
			fields = include(fields, m.Field)
		}
	}
	for _, t := range tools {
		if len(b.action[t.Text]) > 0 {
			fields = include(fields, "action")
		}
	}
	return fields
}
