package callclass

import (
	"fmt"
	"math/big"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// An Enumerator enumerates the call classes of a policy. It must not be used concurrently.
type Enumerator struct {
	keyFields
	classes           Numbers[*Class]
	gaps              []gap // calls that were omitted
	deferred          []*deferred
	overflows         []string // gaps found in deferred calls
	Deny              bool
	certainties       map[string]certainty   // for each label that a reader gives, the properties that matter
	conditions        map[string]*conditions // the conditions that apply to each tool, by tool
	paths             map[string][]string    // cached results of [Enumerator.pathsOf], by tool
	certainConditions map[*mapping]bool      // cached results of [Enumerator.certainIfHolds]
	lacks             func(tool string, f gate.Field) string
}

// A keyFields holds the fields that keys and assertions read from calls. The calls are those that
// have names in the vocabulary.
type keyFields struct {
	vocabulary
	sorts  []*sort
	sortOf map[gate.Field]int
	asked  []Reading // fields that assertions read from calls
}

// A Class is a kind of call: a physical tool together with the names that a single real call can
// have.
type Class struct {
	Tool      string
	Args      string         // a witness in JSON; empty: {}
	Doubtful  bool           // no arguments with exactly these names are known
	supposed  bool           // the tool might not exist
	lacking   string         // an argument of the calls that the tool's schema does not list; may be empty
	labels    []naming.Label // first the policy's labels, then those added by nets' own maps, then patterns that match a label
	Effects   []Effect       // the effects of the class; at most one per net
	KnownTo   []int          // indexes of the nets that know the call; this matters if the default denies unknown calls
	Waits     bool           // the class is not a call: time passes until the clock fires a transition
	Wait      time.Duration
	BlockedBy []int // indexes of the nets that block the class in every state
	Data      []Datum
	AddsToSum bool // every known call of the class increases the sum of some net

	of        *recipe  // describes how to build the arguments
	exchanged *Class   // the result of [Class.Exchanged]
	alike     []*Class // the classes of the same call, one for each combination of presences of the tracked value
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
	fixed    Values // the values that the form specifies
}

type presences []Datum

// A sum is the total of a field's values over the calls of a class, as kept by a net.
type sum struct {
	field gate.Field
	most  *big.Rat // the maximum amount per call
	net   int
}

// A deferred represents calls that can be distinguished in too many ways to list all their classes.
// They differ in their atoms, which are the maps, actions or patterns that they match, and any
// single question sees only a few atoms. The classes are created when the question is asked.
type deferred struct {
	nets     []int        // nets that a single call can affect together
	byNet    [][]int      // by net, the atoms that the net can see
	alone    [][]contrast // for each atom, the calls with the atom and the same calls without it
	of       func(atoms []int) kinds
	made     map[string]kinds // the classes that were already created, by atoms
	overflow string           // the reason why not all calls can be created if all atoms are visible
}

// A contrast is a pair of classes: that of a call with a single atom, and that of the same call
// without this atom.
type contrast struct{ with, without *Class }

// A kinds holds the classes of deferred calls that some atoms distinguish. If classes might be
// missing, gap is the reason; otherwise, it is empty.
type kinds struct {
	classes []*Class
	gap     string
}

// A gap describes omitted calls of a tool, or of any tool if tool is empty.
type gap struct{ tool, text string }

// A certainty says when a label matters: if it is evidence, or if it is certain.
type certainty struct{ evidence, certain bool }

// A conditions value groups the maps of a tool that read a whole call, such as CEL conditions.
// Because no text can be constructed for them, sample arguments are tried until all maps give the
// results that a class requires. If no sample does so, the class has no known arguments.
type conditions struct {
	maps    []*mapping
	samples []map[string]any // the sample arguments; the first sample is empty
	found   map[string][]gate.Found
}

func (b *Enumerator) addGap(tool, format string, args ...any) {
	b.gaps = list.Add(b.gaps, gap{tool, fmt.Sprintf(format, args...)})
}

// fields returns the names of the tool's fields that some map or action rule reads.
func (b *vocabulary) fields(tools []naming.Label) []string {
	var fields []string
	for _, m := range b.maps {
		if m.appliesTo(tools) {
			fields = list.Add(fields, m.Field)
		}
	}
	for _, t := range tools {
		if len(b.action[t.Text]) > 0 {
			fields = list.Add(fields, "action")
		}
	}
	return fields
}
