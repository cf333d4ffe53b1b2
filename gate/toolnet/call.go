package toolnet

import (
	"fmt"
	"time"
)

// A Call is a call of a tool that a policy decides on.
type Call struct {
	ID   string // set by the caller; a call with the ID of a call that is in flight or waiting is a duplicate; empty: never a duplicate
	Tool string // physical name of the tool

	// Foreign means that Tool could also be the name of another tool. Such a name restricts the
	// call, but neither exempts it, nor makes it known, nor counts as evidence.
	Foreign bool

	Also []Name    // further physical names of the same tool, with their certainty
	Args []byte    // arguments: a valid JSON object without duplicate keys; nil: {}; read-only
	Time time.Time // time of arrival: the clock for transitions with [Transition.Every]

	// Others are names of other tools. If an action gives this call one of these names, the name
	// restricts the call, but does not count as evidence that the other tool was called. The map is
	// read-only.
	Others map[string]bool

	// Additional data for a [Reader].
	Upstream    string // server that provides the tool
	Annotations []byte // MCP annotations of the tool, a JSON object; nil: {}
}

// A Name is one of the names of a call.
type Name struct {
	Text    string
	Certain bool // only a certain name can make a call known or exempt it
	Weak    bool // a weak name can restrict, but does not count as evidence: observers ignore it
}

// A Firing is a transition of a net that was chosen for a call, as passed to a validator or a hook.
type Firing struct {
	Call       Call
	Name       string   // name of the call that the transition gates
	Names      []string // for a validator: all names of the call in this net; one transition may gate several
	Net        string
	Transition string
	Marking    Marking    // read-only
	Meta       Meta       // of the net; may be modified
	Key        []KeyValue // for a net with a key: the value that the firing is for
	Result     []byte     // for a success: the result, if the caller provided it; see [End]
}

// A KeyValue is the value of one field of a key.
type KeyValue struct {
	Field string // as written in the policy
	Value string // JSON: a string, a number, true or false; equal values have equal spellings
}

// Meta stores data of the hooks of a net between calls. A hook gets a copy, including copies of the
// maps and lists in it, and its changes are undone if the call is rejected. Data behind pointers is
// not copied, so hooks must treat it as immutable.
type Meta map[string]any

// Outcome is the way a call ended.
type Outcome uint8

const (
	Unknown Outcome = iota // timeout, cancellation or lost connection: the call may have taken effect
	Success
	Failure
)

// String returns the name of the outcome that records use.
func (o Outcome) String() string {
	if o > Failure {
		return fmt.Sprintf("outcome %d", uint8(o))
	}
	return [...]string{Unknown: "unknown", Success: "success", Failure: "failure"}[o]
}
