package toolnet

import (
	"fmt"
	"time"
)

// A Call is a tool call that a policy decides on.
type Call struct {
	ID   string // call ID chosen by the caller, unique among the calls that are in flight or waiting; may be empty
	Tool string // the tool's physical name, which does not depend on the arguments

	// Foreign reports whether Tool might be the name of a different tool. If so, the name can only
	// restrict the call. Such a name does not match an entry of [Transition.Unless], does not count
	// toward a requirement, and does not make the call known (see [PolicyOptions].Deny).
	Foreign bool

	Also []Name    // other physical names of the tool
	Args []byte    // arguments, a valid JSON object without duplicate keys; nil means {}; read-only
	Time time.Time // time of arrival, used as the clock for transitions with [Transition.Every]

	// Others is the set of the names of the other tools. A policy can refer to a call by a name of
	// the form tool.action, where the action comes from the call's action argument. If another tool
	// has the same name, a policy can only restrict the call by this name; the call's success does
	// not count toward a requirement for it. The map is read-only.
	Others map[string]bool

	// The following fields are for a [Reader] only.
	Upstream    string // server that provides the tool
	Annotations []byte // the tool's MCP annotations, a JSON object; nil means {}
}

// A Name is one of the names that a policy gives to a call.
type Name struct {
	Text    string
	Certain bool // whether the call is certain to have the name; only then does the name match [Transition.Unless] or make the call known (see [PolicyOptions].Deny)
	Weak    bool // whether the name only restricts the call, so that the call's success does not count toward a requirement for the name
}

// A Firing describes the firing of a transition that was chosen for a call. It is passed to
// validators and hooks.
type Firing struct {
	Call       Call
	Name       string   // the call's name that the transition was chosen for
	Names      []string // set only for a validator: all names of the call in this net
	Net        string
	Transition string
	Marking    Marking    // read-only
	Meta       Meta       // the net's metadata; may be modified
	Key        []KeyValue // for a net with a key, the key value that the firing affects
	Result     []byte     // result of a successful call, if the caller passed it in [End]
}

// A KeyValue is a key field together with its value in a call.
type KeyValue struct {
	Field string // the field as it appears in the policy
	Value string // JSON string, number or boolean; equal values have the same spelling
}

// Meta holds the data that a net's hooks store between calls. A hook gets a copy, including copies
// of nested maps and slices, so that its changes can be undone if the call is rejected. Data behind
// pointers is not copied, so hooks must not modify it.
type Meta map[string]any

// An Outcome describes how a call ended.
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

// Ignored names a tool argument to ignore when calls are compared, such as a description for people
// or a timeout. Calls that differ only in ignored arguments count as identical.
type Ignored struct {
	Tool  string // applies to calls that are certain to have this name
	Field string // argument key

	// Usual reports whether the tool itself defines the argument as irrelevant, so that every
	// policy can ignore it. Such an entry does not change a policy's fingerprint.
	Usual bool `json:"-"`
}
