package callclass

import (
	"fmt"
	"math/big"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// An Enumerator derives the classes of a policy. It must not be used concurrently.
type Enumerator struct {
	keyFields
	classes           Numbers[*Class]
	gaps              []gap // calls that were left out
	deferred          []*deferred
	overflows         []string // gaps found in deferred calls
	Deny              bool
	certainties       map[string]certainty   // labels that readers give
	conditions        map[string]*conditions // conditions by tool
	paths             map[string][]string    // by tool, see [Enumerator.pathsOf]
	certainConditions map[*mapping]bool      // see [Enumerator.certainIfHolds]
	lacks             func(tool string, f gate.Field) string
}

// keyFields has the fields that keys and assertions read from the calls of a vocabulary.
type keyFields struct {
	vocabulary
	sorts  []*sort
	sortOf map[gate.Field]int
	asked  []Reading // fields that assertions read
}

// A Class is a kind of call: a physical tool with the names that a single real call can have
// together.
type Class struct {
	Tool     string
	Args     string   // JSON of a witness; empty: {}
	Doubtful bool     // no arguments are known that have exactly these names
	supposed bool     // the tool might not exist
	lacking  string   // argument of the calls that the tool's schema does not list; empty: none
	labels   []label  // labels of the policy, then those that nets' own maps add, then patterns that match a label
	Effects  []Effect // at most one per net
	Knowers  []int    // nets that know the call, for a default that denies unknown calls
	Waits    bool     // not a call: time passes and the clock fires a transition
	Wait     time.Duration
	Shut     []int // nets that block the class in every state
	Data     []Datum
	Spends   bool // every known call of the class adds something to the sums of nets

	of        *recipe  // how to build its arguments
	exchanged *Class   // see [Class.Exchanged]
	alike     []*Class // the same call with every presence of the tracked value in its fields
}

// An Effect is the index of the [Meaning] that a class has for one net.
type Effect struct{ Net, Meaning int }

// A recipe describes how to build the arguments of a class.
type recipe struct {
	b        *Enumerator
	form     *form
	data     presences
	sums     []sum
	maySpend bool   // whether the arguments may increase sums
	fixed    Values // values that the form fixes
}

type presences []Datum

// A sum is a net's sum over a field of the calls of a class.
type sum struct {
	field gate.Field
	most  *big.Rat // maximum amount of one call
	net   int
}

// deferred represents calls that can be distinguished in too many ways to list: by atoms, few of
// them visible to any one question. Their classes are created when the question is asked.
type deferred struct {
	nets     []int        // nets that a single call can affect together
	byNet    [][]int      // by net: the atoms that it can see
	alone    [][]contrast // calls with and without each atom
	of       func(atoms []int) kinds
	made     map[string]kinds // cached results, by atoms
	overflow string           // the reason why not all calls are created if all atoms are visible
}

// A contrast is the class of a call with a single atom, and of the same call without it.
type contrast struct{ with, without *Class }

// kinds holds the deferred calls as far as some atoms distinguish them. gap is the reason why there
// may be more; empty if there are not.
type kinds struct {
	classes []*Class
	gap     string
}

// A gap describes calls of a tool that were left out; calls of any tool if tool is empty.
type gap struct{ tool, text string }

// certainty tells whether a label matters as evidence, and whether its certainty matters.
type certainty struct{ evidence, certain bool }

// conditions groups the maps of a tool that read a whole call, such as CEL conditions. No text can
// be constructed for them; instead, sample arguments are tried until all maps give the result that
// a class requires. If no sample does, the class has no known arguments.
type conditions struct {
	maps    []*mapping
	samples []map[string]any // the empty sample comes first
	found   map[string][]gate.Found
}

func (b *Enumerator) addGap(tool, format string, args ...any) {
	b.gaps = include(b.gaps, gap{tool, fmt.Sprintf(format, args...)})
}

// fields returns the names of the fields of the tool that some map or action rule reads.
func (b *vocabulary) fields(tools []label) []string {
	var fields []string
	for _, m := range b.maps {
		if m.appliesTo(tools) {
			fields = include(fields, m.Field)
		}
	}
	for _, t := range tools {
		if len(b.action[t.text]) > 0 {
			fields = include(fields, "action")
		}
	}
	return fields
}
