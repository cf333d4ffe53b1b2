package gate

import (
	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/naming"
)

// plan describes, independently of the state, how a call concerns a net with a key: the values of
// the call and the transitions that do not depend on them.
type plan struct {
	keyvalue.Union
	net     *net
	labels  []naming.Label
	ok      bool          // the mapper of the net did not fail
	watches []choice      // observers whose key is in the result
	spoils  []choice      // spoiling transitions whose value the call lacks: they spoil the evidence for all values
	missing *missingValue // a transition that gates the call needs a value that the call lacks; nil: no such transition
}

// missingValue describes a value that the call lacks for a transition that gates it.
type missingValue struct {
	label   int
	reading *keyvalue.Reading
	key     *keyvalue.Key
}

// choice is a transition chosen for a name.
type choice struct {
	transition int
	name       string
}

// keyContext is the part of a subject that only nets with a key have.
type keyContext struct {
	base  *NetData // default state
	plan  *plan
	value *keyvalue.Value // nil: the part of the call that concerns no value
}

// keyedCall contains the plans of a call for the nets with a key.
type keyedCall struct {
	plans   []plan // for the nets that might apply, in order
	next    int    // index of the last requested plan
	carrier keyvalue.CallReader
	carried []keyContext // one for each subject

	// Preallocated space for the usual case.
	planRoom    [4]plan
	carriedRoom [4]keyContext
}

// clear resets k, and keeps its memory for the next call.
func (k *keyedCall) clear() {
	clear(k.plans)
	clear(k.carried)
	k.plans, k.carried, k.next = k.plans[:0], k.carried[:0], 0
	k.carrier = keyvalue.CallReader{}
}
