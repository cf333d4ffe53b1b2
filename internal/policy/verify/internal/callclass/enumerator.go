package callclass

import (
	"fmt"
	"math/big"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// An Enumerator enumerates the call classes of a policy. It is not safe for concurrent use.
type Enumerator struct {
	fieldTable
	classes           Numbers[*Class]
	gaps              []gap // calls omitted from the enumeration, with reasons
	deferred          []*deferredGroup
	overflows         []string // reasons why some deferred calls were not enumerated
	Deny              bool
	certainties       map[string]certainty     // for each label assigned by a reader, the properties that matter
	conditions        map[string]*conditionSet // the conditions that apply to each tool
	paths             map[string][]string      // cached results of [Enumerator.pathsOf], by tool
	certainConditions map[*mapping]bool        // cached results of [Enumerator.certainIfHolds]
	lacks             func(tool string, f gate.Field) string
}

// A fieldTable holds the names that calls can have, and the fields that keys and assertions read
// from calls.
type fieldTable struct {
	vocabulary
	sorts  []*sort
	sortOf map[gate.Field]int
	asked  []Reading // fields that assertions read from calls
}

// A Class is a set of calls that a policy does not distinguish. All of them are calls to the same
// tool and have the same names.
type Class struct {
	Tool      string
	Args      string         // example arguments as JSON; empty means {}
	Doubtful  bool           // whether no arguments are known that give a call exactly these names
	supposed  bool           // whether the tool might not exist
	lacking   string         // an argument of the calls that is missing from the tool's schema, if any
	labels    []naming.Label // names of the calls: first those given by the policy, then those given by nets' own maps, then patterns that match any of these names
	Effects   []Effect       // effects of the class, at most one per net
	KnownTo   []int          // indexes of the nets that certainly list the calls, except nets that only observe them; if empty, "default: deny" refuses the calls
	Waits     bool           // whether the class represents the passage of time until a timed transition fires, instead of a call
	Wait      time.Duration
	BlockedBy []int // indexes of the nets that block the class in every state
	Data      []Datum
	AddsToSum bool // whether every known call of the class increases the sum of some net

	of        *recipe  // how to build the arguments
	exchanged *Class   // the result of [Class.Counterpart]
	alike     []*Class // the classes that differ only in their Data, including this one
}

// An Effect describes how calls of a class affect a net. It holds the index of the net, and the
// index of the calls' [Meaning] in that net.
type Effect struct{ Net, Meaning int }

// A recipe describes how to build the arguments for calls of a class.
type recipe struct {
	b        *Enumerator
	form     *form
	data     presences
	sums     []sum
	maySpend bool   // whether the arguments may contain positive amounts in summed fields
	fixed    Values // values used to build the class's arguments
}

type presences []Datum

// A sum is the total of a field's values over several calls, as recorded by a net.
type sum struct {
	field gate.Field
	most  *big.Rat // maximum amount per call
	net   int
}

// A deferredGroup represents calls that have too many classes to list. The calls differ in the
// atoms that they match; an atom is a map, an action or a pattern. A question about the policy
// depends on only a few atoms, so classes are created separately for each question.
type deferredGroup struct {
	nets     []int        // nets that a single call can affect together
	byNet    [][]int      // for each net, the atoms (maps, actions or patterns) that it can see
	alone    [][]contrast // for each atom, pairs of classes that differ only in whether calls match it
	of       func(atoms []int) kindSet
	made     map[string]kindSet // classes created so far, keyed by the atoms that they distinguish
	overflow string             // why the calls of this group could not all be listed
}

// A contrast is a pair of classes. The calls of the first class match a single map, action or
// pattern. The calls of the second class are the same, but do not match it.
type contrast struct{ with, without *Class }

// A kindSet contains classes of calls that were not enumerated in advance. The classes differ in a
// given set of maps, actions or patterns. If classes might be missing, gap is the reason.
type kindSet struct {
	classes []*Class
	gap     string
}

// A gap records why calls to a tool were omitted. If tool is empty, the gap concerns all tools.
type gap struct{ tool, text string }

// A certainty records which properties of a label make a difference: whether the success of calls
// with the label counts toward requirements, and whether calls are certain to have the label.
type certainty struct{ evidence, certain bool }

// A conditionSet groups the maps of a tool that read a whole call, for example with CEL conditions.
// Arguments that match such a map cannot be constructed. Instead, sample arguments are tried until
// all maps give the results that a class requires. If no sample succeeds, the class has no known
// arguments.
type conditionSet struct {
	maps    []*mapping
	samples []map[string]any // sample arguments; the first sample is empty
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
