package toolnet

import (
	"fmt"
	"time"
)

// A Call is a tool call that a policy decides on.
type Call struct {
	ID   string // set by the caller; a call is a duplicate if another call with its ID is in flight or waiting; empty: never a duplicate
	Tool string // the tool's physical name

	// Foreign means that Tool might also be the name of another tool. Such a name restricts the
	// call, but it neither exempts the call, nor makes it known, nor counts as evidence.
	Foreign bool

	Also []Name    // further physical names of the tool, with their certainty
	Args []byte    // arguments: a valid JSON object without duplicate keys; nil: {}; read-only
	Time time.Time // time of arrival, which is the clock for transitions with [Transition.Every]

	// Others holds the names of other tools. If an action gives this call one of these names, the
	// name restricts the call but is not evidence that the other tool was called. The map is
	// read-only.
	Others map[string]bool

	// Additional data for a [Reader].
	Upstream    string // server that provides the tool
	Annotations []byte // the tool's MCP annotations, a JSON object; nil: {}
}

// A Name is a name of a call.
type Name struct {
	Text    string
	Certain bool // only a certain name can exempt a call or make it known
	Weak    bool // a weak name may restrict a call but is not evidence; observers ignore it
}

// A Firing is a transition that was chosen for a call, as passed to a validator or hook.
type Firing struct {
	Call       Call
	Name       string   // the call's name that the transition gates
	Names      []string // for a validator: all names that the call has in this net; the transition may gate several of them
	Net        string
	Transition string
	Marking    Marking    // read-only
	Meta       Meta       // the net's metadata; may be modified
	Key        []KeyValue // for a net with a key: the value that the firing is for
	Result     []byte     // for a success: the result, if the caller has provided it; see [End]
}

// A KeyValue is the value of a key field.
type KeyValue struct {
	Field string // the field as written in the policy
	Value string // JSON: a string, a number, true or false; equal values have equal spellings
}

// Meta stores data for a net's hooks between calls. A hook gets a copy, including copies of its
// maps and lists. If the call is rejected, the hook's changes are undone. Data behind pointers is
// not copied, so hooks must treat it as immutable.
type Meta map[string]any

// Outcome is how a call ended.
type Outcome uint8

const (
	Unknown Outcome = iota // timeout, cancellation or lost connection; the call may have taken effect
	Success
	Failure
)

// String returns the outcome's name, as used in records.
func (o Outcome) String() string {
	if o > Failure {
		return fmt.Sprintf("outcome %d", uint8(o))
	}
	return [...]string{Unknown: "unknown", Success: "success", Failure: "failure"}[o]
}

// Ignored is a tool argument that describes or times a call without changing the call's effect,
// such as a description for people. Calls that differ only in ignored arguments are equal.
type Ignored struct {
	Tool  string // a name that calls certainly have
	Field string // the argument's key

	// Usual means that the tool's makers define the argument in this way, so that the entry holds
	// wherever the tool is used. Usual is not part of a policy's fingerprint.
	Usual bool `json:"-"`
}
