package hook

import (
	"time"
)

// Agent is a program whose hook events this package can read.
type Agent struct {
	Name string // also the upstream name of the agent's tools in rules

	// DenyExit is the exit code of a hook process that refuses a call. The process also prints
	// JSON. With exit code 2, agents show the model the text on stderr, so the refusal works even
	// if something else writes to stdout, such as a login shell. Cursor takes the reason only from
	// the JSON, and treats invalid JSON as a refusal.
	DenyExit int

	hold   time.Duration // how long a hook may wait for a person within the timeout in docs/hooks.md
	hasIDs bool          // the agent gives each call an ID
	ends   endReport     // how the agent's events report the end of a script
	events map[string]kind
	Deny   func(event, reason string) []byte  // returns the answer that refuses a call and gives the model the reason
	change func(e *Event, args []byte) []byte // returns the answer that changes a call's arguments and leaves the call to the agent's own permissions, or nil if this call cannot be changed; nil if the agent does not support changes
	read   func(*Event, []byte)               // reads agent-specific fields of an event; may be nil
}

// kind is an event's kind.
type kind int

const (
	ignored  kind = iota
	before        // the event precedes a call, which needs a decision
	after         // the event follows a call, which succeeded unless its result says otherwise
	failed        // the event follows a failed call
	turnEnds      // none of the session's calls is still in flight
	ends          // the session ends
)

// Limit is the maximum time that the gate takes to answer. It is short enough for the hook to end
// before the timeout in docs/hooks.md.
func (a *Agent) Limit() time.Duration { return a.hold + 5*time.Second }

// Pass is the answer that leaves a call to the agent's own permissions. It is also the answer to
// all events that do not precede a call.
var Pass = []byte("{}")

// endReport describes how an agent's hooks report whether a shell script succeeded.
type endReport int

const (
	byEvent     endReport = iota // success and failure are different events
	byCode                       // the event contains the exit code; without an exit code the outcome is unknown
	byReport                     // the outcome is read from the text that the agent writes for the model
	notReported                  // the outcome of every script is unknown, so such a call earns no tokens
)
