package toolnet

import (
	"fmt"
	"time"
)

// A Call is one call of a tool, to be decided.
type Call struct {
	ID   string // the caller's; a second one in flight or waiting is a duplicate; empty: never one
	Tool string // the physical name

	// Foreign says that Tool could also be the name of another tool: then it
	// restricts, and neither exempts, nor makes the call known, nor is evidence.
	Foreign bool

	Also []Name    // further physical names of the same tool; say which are certain
	Args []byte    // the JSON object of arguments, valid and without duplicate keys; nil: {}; never changed
	Time time.Time // when it came: the clock of transitions with [Transition.Every]

	// Others are names of other tools. If an action gives this call the name of one,
	// the name restricts, but is no evidence of a call of the other. Never changed.
	Others map[string]bool

	// Further data for a [Reader].
	Upstream    string // the server that has the tool
	Annotations []byte // of the tool, a JSON object; nil: {}
}

// A Name is one of the names of a call.
type Name struct {
	Text    string
	Certain bool // only a certain name can make a call known or exempt it
	Weak    bool // it restricts and is no evidence: no observer follows it
}

// A Firing is a transition of a net chosen for a call, for a validator or a hook.
type Firing struct {
	Call       Call
	Name       string   // the name of the call that the transition gates
	Names      []string // for a validator: every name of the call in this net; one transition may gate several
	Net        string
	Transition string
	Marking    Marking    // read only
	Meta       Meta       // of the net; may be changed
	Key        []KeyValue // of a net with a key: the value that the firing is about
	Result     []byte     // of a success: the result, if the caller gave it, see [End]
}

// A KeyValue is the value of one field of a key.
type KeyValue struct {
	Field string // as it was written
	Value string // JSON: a string, a number, true or false; of equal values always the same
}

// Meta is the memory of the hooks of a net between calls. A hook is given a copy, with copies
// of the maps and lists in it, and what it changes is undone if the call is rejected. What a
// pointer leads to is not copied: hooks must treat it as immutable.
type Meta map[string]any

// Outcome says how a call ended.
type Outcome uint8

const (
	Unknown Outcome = iota // a timeout, a cancellation, a lost connection: it may have happened
	Success
	Failure
)

// String returns the word for the outcome, as records have it.
func (o Outcome) String() string {
	if o > Failure {
		return fmt.Sprintf("outcome %d", uint8(o))
	}
	return [...]string{Unknown: "unknown", Success: "success", Failure: "failure"}[o]
}
